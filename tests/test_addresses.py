from __future__ import annotations

import contextlib
import json
import warnings
from pathlib import Path

import pytest

from bert_judge.cli import main
from bert_judge.wording import public_command, public_text
from json_lines import EXAMPLES, read_rows, write_rows
from scripted_endpoint import Answer, endpoint

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
    assert {text: public_text(text) for text in shown} == shown
    assert public_command(["x", "--base_url=HTTP://u:p@h/v1?k"]) == ["x", "--base_url=HTTP://h/v1"]


@pytest.mark.parametrize("flag", ["--base_url {}", "--base-url={}", "--config {config}", ""])
def test_no_secret_of_an_address_is_written_or_printed(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERT_JUDGE_CACHE", str(tmp_path / "cache"))
    rows = write_rows(tmp_path / "rows.jsonl", read_rows(EXAMPLES)[:3])
    with endpoint(lambda prompt, _: Answer(status=400) if "Paris" in prompt else Answer()) as server:
        url = server.base_url.replace("://", "://us3r:pa55word@") + "?api_key=k3y"
        config = tmp_path / "config.yaml"
        config.write_text(f"base_url: {json.dumps(url)}\n", encoding="utf-8")
        if not flag:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        flags = flag.format(url, config=config).split()
        judge = ["--judge_type", "LLMJudge", "--backend", "openai", "--model_path", "m", "--retries", "0"]
        out = str(tmp_path / "out")
        main(["score", rows, *judge, *flags, "--output_dir", out])
        assert server.paths[0].endswith("?api_key=k3y")
    assert main(["report", out]) == 0
    main(["score", rows, *judge, *(word.replace("base", "bse", 1) for word in flags), "--output_dir", out])
    config.unlink()
    expected = {"run.json", "verdicts.jsonl", "report.html", "report.json", "report.md", "store.sqlite"}
    assert expected <= {path.name for path in tmp_path.rglob("*")}
    assert not leaks(tmp_path, "".join(capfd.readouterr()))
    run = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert run["identity"]["signature"]["settings"]["url"] == server.base_url


PLANTED = "http://us3r:pa55word@127.0.0.1:9/v1?api_key=k3y"
_FLAGS = json.loads((Path(__file__).parent / "golden" / "flags.json").read_text(encoding="utf-8"))
_NEEDED: dict[str, list[str]] = {
    "score": ["rows.jsonl", "--limit", "1"],
    "audit": ["--judge", "containment", "--items", "1"],
    "evaluate": ["rows.jsonl", "--judge", "containment"],
    "show": ["done"],
    "report": ["done"],
    "compare": ["done", "done2"],
    "correct": ["done"],
    "gate": ["done"],
    "cascade": ["--calibration", "rows.jsonl", "--judge", "containment,exact_match"],
    "generate": ["--tasks", "none", "--backend", "openai", "--model", "m"],
    "judge": ["--tasks", "none"],
    "train": ["--model_path", "none", "--dataset_path", "rows.jsonl"],
    "bertscore": ["-r", "rows.jsonl", "-c", "rows.jsonl"],
    "tasks": [],
    "doctor": [],
}
"""What commands need to come as far as a flag's value; `serve` and `label` go on until they are stopped."""

_TEXTS = {"--title", "--think_token", "--reference_separator"}  # whose value is a text to be shown, whatever it is


def leaks(folder: Path, printed: str) -> list[str]:
    """Where a secret stands. Pictures are left out: a short secret may stand in their bytes by chance."""
    texts = {"printed": printed.encode()}
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() and path.suffix != ".png" else b""
        texts[str(path)] = str(path.relative_to(folder)).encode() + content
    return [f"{secret} in {name}" for name, text in texts.items() for secret in SECRETS if secret.encode() in text]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERT_JUDGE_CACHE", str(tmp_path / "cache"))
    write_rows("rows.jsonl", read_rows(EXAMPLES)[:3])
    for folder, judge in (("done", "containment"), ("done2", "exact_match")):
        assert main(["score", "rows.jsonl", "--judge", judge, "--output_dir", folder, "--quiet"]) == 0
    capfd.readouterr()
    return tmp_path


@pytest.mark.parametrize("command", _FLAGS)
def test_no_secret_in_any_flag_gets_out(command: str, workplace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name, *kind = command.split()
    if name not in _NEEDED:
        pytest.skip("it goes on until it is stopped")
    judge = [] if kind or name != "score" else ["--judge", "containment"]
    for spellings in _FLAGS[command]:
        flag = spellings.split()[-1]
        if flag in _TEXTS | {"--help"}:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for value in ([PLANTED], [f"question={PLANTED}"]):
                with contextlib.suppress(SystemExit):
                    main([name, *_NEEDED[name], *kind, *judge, flag, *value])
        leaked = leaks(workplace, "".join(capfd.readouterr()))
        assert not leaked, (flag, leaked)


@pytest.mark.parametrize("variable", "OPENAI_API_KEY OPENAI_BASE_URL HF_TOKEN BERT_JUDGE_API_KEY RAY_ADDRESS".split())
def test_no_secret_in_a_variable_is_written_or_printed(
    variable: str, workplace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, PLANTED)
    with endpoint(Answer()) as server:
        address = [] if variable == "OPENAI_BASE_URL" else ["--base_url", server.base_url]
        asked = ["--judge", "LLMJudge", "--backend", "openai", "--model_path", "m", "--retries", "0", *address]
        main(["score", "rows.jsonl", *asked, "--output_dir", "asked"])
        main(["score", "rows.jsonl", "--server", server.base_url, "--output_dir", "served"])
        main(["score", "rows.jsonl", "--judge", "nobody/nothing", "--output_dir", "hub"])
        main(["doctor"])
    assert not leaks(workplace, "".join(capfd.readouterr()))
