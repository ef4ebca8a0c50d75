"""`bert-judge cascade`: find out how far cheap judges can be trusted before an expensive one is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from bert_judge.cli import log_shown, progress_bar, run, say
from bert_judge.cli.flags import Parser, add_flags, options_from
from bert_judge.cli.inputs import InputOptions, open_input
from bert_judge.cli.judging import trusts_files
from bert_judge.errors import InputError, OutputError
from bert_judge.judges.naming import read_judges
from bert_judge.records import Verdict
from bert_judge.report.cascade import calibration_document
from bert_judge.studies.cascade import CascadeSettings, Watch, calibrate_cascade

_EXAMPLES = """examples:
  bert-judge cascade --judge containment,starter,llm.yaml --calibration labelled.jsonl -o cascade.json
  bert-judge cascade --judge containment,starter,llm.yaml --calibration labelled.jsonl --target_agreement 0.9
  bert-judge cascade --judge starter,llm.yaml --calibration answers.jsonl --agree_with last
  bert-judge cascade --judge containment,starter --calibration labelled.jsonl --abstain
  bert-judge score answers.jsonl --judge_type Cascade --model_path cascade.json

A stage is a metric (containment, exact_match, ...), starter, a folder or a name on the Hub (a BERTJudge), a name of
`score --judge_type`, or a YAML file with judge_type and the flags of that judge. Labels are read from the file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions(InputOptions):
    """What `cascade` takes besides its settings."""

    judge: Annotated[tuple[str, ...], "the stages, cheapest first; the last judge decides what is left"] = ()
    calibration: Annotated[str, "file of labelled answers"]
    trust_remote_code: Annotated[bool, "import the classes that a file of judges names as module:Class"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, ask the judges, write the cascade, and print what it promises."""
    options, settings, output = _parse(arguments)
    if not options.judge:
        raise InputError("no stages were named; judges were expected, such as --judge containment,starter,llm.yaml.")
    _check_place(output)
    specs = read_judges(options.judge, trusts_files(arguments))
    source = open_input(options.calibration, options)
    origin = {"file": Path(source.path).name, "sha256": source.sha256}
    with log_shown(not options.quiet):
        result = calibrate_cascade(specs, source, settings, origin, _watch(options.quiet))
    result.plan.save(output)
    if not options.quiet:
        say(calibration_document(result, settings).text())
        say(f"\nfile   {output}: bert-judge score FILE --judge_type Cascade --model_path {output}")
    return 0


def _parse(arguments: Sequence[str]) -> tuple[CascadeOptions, CascadeSettings, Path]:
    parser = Parser(
        "bert-judge cascade", "--judge A,B,C --calibration FILE [flags]", "Calibrate a cascade of judges.", _EXAMPLES
    )
    group = parser.add_argument_group("flags")
    group.add_argument("-o", "--output", metavar="FILE", default="cascade.json", help="(default: cascade.json)")
    add_flags(group, CascadeOptions)
    parser.flags("what is promised", CascadeSettings)
    values = parser.parse(arguments)
    return options_from(CascadeOptions, values), options_from(CascadeSettings, values), Path(values["output"])


def _check_place(output: Path) -> None:
    """Before any judge is asked: what comes out must find its place."""
    if output.is_dir():
        raise InputError(
            f"{output} is a folder; a file for the cascade was expected, such as {output / 'cascade.json'}."
        )
    if not output.parent.is_dir():
        raise OutputError(f"there is no folder for {output}; make it, or choose another -o.")


def _watch(quiet: bool) -> Watch:
    def watch(name: str, verdicts: Iterable[Verdict], count: int) -> Iterable[Verdict]:
        with progress_bar(count, name, quiet) as bar:
            for verdict in verdicts:
                yield verdict
                bar.update()

    return watch


if __name__ == "__main__":
    run("cascade")
