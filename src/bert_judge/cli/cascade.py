"""`bert-judge cascade`: find out how far cheap judges can be trusted before an expensive one is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from bert_judge.cli import log_shown, progress_bar
from bert_judge.cli.flags import FormatOptions, Parser, options_from
from bert_judge.cli.judging import InputOptions, open_input, trusts_files
from bert_judge.errors import InputError, OutputError
from bert_judge.judges.naming import read_judges
from bert_judge.records import Verdict
from bert_judge.report.cascade import calibration_document
from bert_judge.studies.cascade import CascadeSettings, Watch, calibrate_cascade

_EXAMPLES = """examples:
  bert-judge cascade --judge containment,starter,llm.yaml --calibration labelled.jsonl -o cascade.json
  bert-judge cascade --judge starter,llm.yaml --calibration answers.jsonl --agree_with last
  bert-judge cascade --judge containment,starter --calibration labelled.jsonl --abstain
  bert-judge score answers.jsonl --judge cascade.json

A stage is a name that `score --judge` takes, a metric (containment, exact_match, …), or a YAML file with judge_type and
the flags of that judge. The calibration file needs human labels, unless stages are to agree with the last.
"""


@dataclass(frozen=True, kw_only=True)
class CascadeOptions(InputOptions, FormatOptions):
    """What `cascade` takes besides its settings."""

    judge: Annotated[tuple[str, ...], "the stages, cheapest first; the last one decides what is left"] = ()
    calibration: Annotated[str, "file of labelled answers"]
    output: Annotated[str, "file for the cascade", "-o"] = "cascade.json"
    trust_remote_code: Annotated[bool, "import the classes (module:Class) that a judge's YAML file names"] = False
    quiet: Annotated[bool, "no progress bar and no table"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, ask the judges, write the cascade, and print what it promises."""
    groups = {"flags": CascadeOptions, "what is promised": CascadeSettings}
    values = Parser("cascade", "--judge A,B,C --calibration FILE [flags]", _EXAMPLES, groups).parse(arguments)
    options, settings = options_from(CascadeOptions, values), options_from(CascadeSettings, values)
    output = Path(options.output)
    if not options.judge:
        raise InputError("no stages were named; judges were expected, such as --judge containment,starter,llm.yaml.")
    _check_place(output)
    specs = read_judges(options.judge, trusts_files(arguments))
    source = open_input(options.calibration, options)
    origin = {"file": Path(source.path).name, "sha256": source.sha256}
    with log_shown(not options.quiet):
        result = calibrate_cascade(specs, source, settings, origin, _watch(options.quiet))
    record = result.plan.save(output)
    if not options.quiet:
        options.show(calibration_document(result, settings), record)
        options.mention(f"\nfile   {output}: bert-judge score FILE --judge {output}")
    return 0


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
