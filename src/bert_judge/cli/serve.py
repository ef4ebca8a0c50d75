"""`bert-judge serve`: judges over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bert_judge.cli import log_shown, note, run, say
from bert_judge.cli.flags import Parser, made
from bert_judge.cli.judging import add_judges, chosen_judges
from bert_judge.errors import import_extra, named_in_errors
from bert_judge.judges.naming import JudgeSpec
from bert_judge.server.options import ServerOptions

_EXAMPLES = """examples:
  bert-judge serve
  bert-judge serve --host 0.0.0.0 --port 8080 --judge artefactory/BERTJudge --api_keys keys.txt
  bert-judge serve --judge starter,BERTScore,containment   # several: a request names one by "judge", or gets the first
  bert-judge score answers.jsonl --server http://127.0.0.1:8000

  curl http://127.0.0.1:8000/v1/judge -H 'Content-Type: application/json' \\
      -d '{"question": "What is the capital of France?", "reference": "Paris", "candidate": "It is Paris."}'

What clients send while the judge works is judged together. It is one process for one device: on a machine with
several, start one for each (--device cuda:1 --port 8001). Ctrl-C or SIGTERM ends, once all requests are answered.
"""
_HERE = ("127.0.0.1", "localhost", "::1")


def main(arguments: Sequence[str]) -> int:
    """Check everything, load the judges, and serve until SIGTERM or Ctrl-C."""
    specs, options = _parse(arguments)
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        import_extra(package, "bert-judge serve", "server", package.replace("_", "-"))
    from bert_judge.server.middleware import KEYS_VARIABLE, Keys
    from bert_judge.server.running import open_socket, run_server, warm_up

    keys = Keys.read(options.api_keys)
    with open_socket(options.host, options.port) as opened:
        if options.host not in _HERE and not keys:
            note(f"whoever can reach {options.host} can ask; --api_keys or {KEYS_VARIABLE} keeps others out.")
        judges = {}
        for name, spec in specs.items():
            with log_shown(not options.quiet), named_in_errors(f"the judge {name}"):
                judges[name] = spec.make()
        warm_up(judges)
        names = ", ".join(judges)
        run_server(judges, options, keys, opened, lambda url: say(f"serving {names} at {url}; Ctrl-C ends."))
    print("all requests are answered.", file=sys.stderr)
    return 0


def _parse(arguments: Sequence[str]) -> tuple[dict[str, JudgeSpec], ServerOptions]:
    parser = Parser("bert-judge serve", "[flags]", "Serve judges over HTTP.", _EXAMPLES)
    parser.flags("serving", ServerOptions)
    read_judges = add_judges(parser, chosen_judges(arguments), several="several, by name")
    values = parser.parse(arguments)
    return read_judges(values), made(ServerOptions, values)


if __name__ == "__main__":
    run("serve")
