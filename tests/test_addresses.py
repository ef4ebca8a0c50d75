from __future__ import annotations

import json
from pathlib import Path

import pytest

from bert_judge.addresses import public_command, public_text
from bert_judge.cli import main
from scripted_endpoint import Answer, endpoint

ROWS = Path(__file__).parents[1] / "examples" / "answers.jsonl"
SECRETS = ("us3r", "pa55word", "k3y")


def test_an_address_is_shown_without_user_query_and_fragment():
    shown = {
        "http://user:password@host:80/v1?api_key=k#f": "http://host:80/v1",
        "https://host/v1": "https://host/v1",
        "http://token@host": "http://host",
        "http://host/@me/v1?x": "http://host/@me/v1",
        "see http://a:b@c/d?e, and https://f?g": "see http://c/d and https://f",
        "a@b.c?d": "a@b.c?d",
        r"https?://(\S+)": r"https?://(\S+)",
    }
    assert {given: public_text(given) for given in shown} == shown
    assert public_command(["x", "--base_url=HTTP://u:p@h/v1?k"]) == ["x", "--base_url=HTTP://h/v1"]


@pytest.mark.parametrize("flag", ["--base_url {}", "--base-url={}", "--config {config}", ""])
def test_no_secret_of_an_address_is_written_or_printed(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERT_JUDGE_CACHE", str(tmp_path / "cache"))
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(ROWS.read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    with endpoint(lambda prompt, _: Answer(status=400) if "Paris" in prompt else Answer()) as server:
        url = server.base_url.replace("://", "://us3r:pa55word@") + "?api_key=k3y"
        config = tmp_path / "config.yaml"
        config.write_text(f"base_url: {json.dumps(url)}\n", encoding="utf-8")
        if not flag:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        given = flag.format(url, config=config).split()
        judge = ["--judge_type", "LLMJudge", "--backend", "openai", "--model_path", "m", "--retries", "0"]
        out = str(tmp_path / "out")
        main(["score", str(rows), *judge, *given, "--output_dir", out])
        assert server.paths[0].endswith("?api_key=k3y")
    assert main(["report", out]) == 0
    main(["score", str(rows), *judge, *(each.replace("base", "bse", 1) for each in given), "--output_dir", out])
    config.unlink()
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    expected = {"run.json", "verdicts.jsonl", "report.html", "report.json", "report.md", "store.sqlite"}
    assert expected <= {path.name for path in written}
    told = written | {"printed": "".join(capfd.readouterr()).encode()}
    found = [(name, secret) for name, text in told.items() for secret in SECRETS if secret.encode() in text]
    assert not found
    run = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert run["identity"]["signature"]["settings"]["url"] == server.base_url
