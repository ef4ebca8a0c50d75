"""`bert-judge cascade`: find out how far cheap judges can be trusted before a dear one is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from bert_judge.analysis.calibrate import (
    CascadeResult,
    CascadeSettings,
    Side,
    StageCount,
    StageResult,
    Watch,
    calibrate_cascade,
    stage_counts,
)
from bert_judge.analysis.tables import Table
from bert_judge.cli import log_shown, progress_bar, run, say
from bert_judge.cli.flags import Parser, add_flags, made
from bert_judge.cli.inputs import InputOptions, open_input
from bert_judge.errors import InputError, OutputError
from bert_judge.judges.base import Costs
from bert_judge.judges.cascade import Cascade, CascadePlan
from bert_judge.judges.naming import read_judges
from bert_judge.stats.certified import upper_bound
from bert_judge.types import Verdict

_EXAMPLES = """examples:
  bert-judge cascade --stages containment,starter,llm.yaml --calibration labelled.jsonl -o cascade.json
  bert-judge cascade --stages containment,starter,llm.yaml --calibration labelled.jsonl --target_agreement 0.9
  bert-judge cascade --stages starter,llm.yaml --calibration answers.jsonl --agree_with last
  bert-judge cascade --stages containment,starter --calibration labelled.jsonl --abstain
  bert-judge score answers.jsonl --judge_type Cascade --model_path cascade.json

A stage is a metric (containment, exact_match, ...), starter, a folder or a name on the Hub (a BERTJudge), a name of
`score --judge_type`, or a YAML file with judge_type and the flags of that judge. Labels are read from the file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions(InputOptions):
    """What `cascade` takes besides its settings."""

    stages: Annotated[tuple[str, ...], "the judges, cheapest first; the last one decides what is left"] = ()
    calibration: Annotated[str, "file of labelled answers"]
    quiet: Annotated[bool, "no progress bar and no table"] = False


def main(arguments: Sequence[str]) -> int:
    """Parse the flags, check everything, ask the judges, write the cascade, and print what it promises."""
    options, settings, output = _parse(arguments)
    if not options.stages:
        raise InputError("no stages were named; judges were expected, such as --stages containment,starter,llm.yaml.")
    _check_place(output)
    specs = read_judges(options.stages)
    source = open_input(options.calibration, options)
    origin = {"file": Path(source.path).name, "sha256": source.sha256}
    with log_shown(not options.quiet):
        result = calibrate_cascade(specs, source, settings, origin, _watch(options.quiet))
    result.plan.save(output)
    if not options.quiet:
        say(_report(result, settings))
        say(f"\nfile   {output}: bert-judge score FILE --judge_type Cascade --model_path {output}")
    return 0


def cascade_report(cascade: Cascade, records: Iterable[Mapping[str, object]]) -> str:
    """What each stage of a cascade did: rows and agreement in a whole result, time and costs in this process."""
    counts = stage_counts(records, cascade.plan)
    rows = counts[0].reached
    head = ["stage", "reached", "decided", "of all", "agree", "seconds", "requests", "money"]
    body = [_use_line(count, use, rows) for count, use in zip(counts, cascade.use, strict=True)]
    shown = [n for n in range(len(head)) if any(line[n] for line in body)]
    table = Table("", [head[n] for n in shown], [[line[n] for n in shown] for line in body])
    return "\n".join([table.text(), _saving(counts, cascade.use, cascade.plan.abstain), *_broken(counts, cascade.plan)])


def _parse(arguments: Sequence[str]) -> tuple[CascadeOptions, CascadeSettings, Path]:
    parser = Parser(
        "bert-judge cascade", "--stages A,B,C --calibration FILE [flags]", "Calibrate a cascade of judges.", _EXAMPLES
    )
    group = parser.add_argument_group("flags")
    group.add_argument("-o", "--output", metavar="FILE", default="cascade.json", help="(default: cascade.json)")
    add_flags(group, CascadeOptions)
    parser.flags("what is promised", CascadeSettings)
    values = parser.parse(arguments)
    return made(CascadeOptions, values), made(CascadeSettings, values), Path(values["output"])


def _check_place(output: Path) -> None:
    """Before any judge is asked: what comes out must find its place."""
    if output.is_dir():
        raise InputError(
            f"{output} is a folder; a file for the cascade was expected, such as {output / 'cascade.json'}."
        )
    if not output.parent.is_dir():
        raise OutputError(f"there is no folder {output.parent} for {output.name}; make it, or choose another -o.")


def _watch(quiet: bool) -> Watch:
    def watch(name: str, verdicts: Iterable[Verdict], count: int) -> Iterable[Verdict]:
        with progress_bar(count, name, quiet) as bar:
            for verdict in verdicts:
                yield verdict
                bar.update()

    return watch


def _report(result: CascadeResult, settings: CascadeSettings) -> str:
    plan, stages = result.plan, result.found.stages
    seen = plan.calibration
    body = [line for stage in stages for line in _stage_lines(stage, result.seconds)]
    if plan.last:
        left = len(result.found.through) - _early(result)
        seconds = result.seconds.get(plan.last.name)
        body.append([plan.last.name, "the rest", str(left), "", "", "", "", _milliseconds(seconds)])
    head = ["stage", "side", "reached", "score", "decided", "agree", "at least", "ms a row"]
    each = 1 - settings.delta / (2 * len(stages))
    early, through = _early(result), len(result.found.through)
    end = "the last stage" if plan.last else "the end"
    right, whom = seen["right"] / seen["questions"], plan.agree_with.removeprefix("last: ")
    read = f"of {seen['rows']} rows in {seen['file']}"
    share = f"{early / through:.1%}), of which {result.agreed / early:.1%} agree" if early else "0.0%)"
    lines = [
        f"calibrated on {seen['questions']} questions, a row each {read}; {right:.1%} right",
        f"promise: {plan.target:.4g} of the rows decided before {end} agree with {whom},",
        f"         with confidence {1 - plan.delta:.4g} ({each:.4g} for each stage and side)",
        "",
        Table("", head, body).text(),
        "",
        f"decided before {end}: {early} of {through} rows ({share}",
    ]
    return "\n".join([*lines, *(line for stage in stages for line in _shortfalls(stage, settings))])


def _stage_lines(stage: StageResult, seconds: Mapping[str, float]) -> list[list[str]]:
    lines = []
    for side, said, sign in ((stage.high, "right", ">="), (stage.low, "wrong", "<=")):
        found = side.certificate
        cells = (
            [
                f"{sign} {found.threshold:g}",
                f"{found.rows}",
                f"{found.agreed / found.rows:.1%}",
                f"{found.at_least:.1%}",
            ]
            if found
            else ["-", "0", "-", "-"]
        )
        lines.append([stage.name, said, str(side.reached), *cells, _milliseconds(seconds.get(stage.name))])
    lines[1][0] = lines[1][-1] = ""
    return lines


def _shortfalls(stage: StageResult, settings: CascadeSettings) -> list[str]:
    """What is said of sides that have no threshold."""
    sides = [(side, said) for side, said in ((stage.high, "right"), (stage.low, "wrong")) if not side.certificate]
    lines = [f"{stage.name} decides nothing: leave it out, or lower --target_agreement"] if len(sides) == 2 else []
    return lines + [f"{stage.name} calls nothing {said}: {_could(side, settings)}" for side, said in sides]


def _could(side: Side, settings: CascadeSettings) -> str:
    reachable = side.reachable
    if reachable is None:
        return "no agreement from 0.5 on can be certified"
    target, share = reachable
    return f"{target:.2g} could be certified, not {settings.target_agreement:.4g} ({share:.0%} of its rows then)"


def _use_line(count: StageCount, use: Costs, rows: int) -> list[str]:
    return [
        count.name,
        str(count.reached),
        str(count.decided),
        f"{count.decided / rows:.1%}" if rows else "-",
        f"{count.agreed / count.labelled:.1%}" if count.labelled else "-",
        f"{use.seconds:.1f}" if use.rows else "-",
        str(use.requests) if use.requests or use.cached else "",
        "" if use.money is None else f"{use.money:.4f}",
    ]


def _saving(counts: Sequence[StageCount], use: Sequence[Costs], abstain: bool) -> str:
    """How many rows the last stage was spared, and what it would have taken alone."""
    rows, last = counts[0].reached, counts[-1]
    if abstain:
        left = last.reached - last.decided
        return f"undecided: {left} of {rows} rows ({left / rows:.1%}), of which no stage was sure"
    said = f"{rows - last.reached} of {rows} rows ({1 - last.reached / rows:.1%}) never reached {last.name}"
    asked, taken = use[-1], sum(each.seconds for each in use)
    if not asked.rows or not asked.seconds:
        return said
    alone = use[0].rows / asked.rows
    said += f"; alone it would have taken about {alone * asked.seconds:.1f} s, not {taken:.1f} s"
    if asked.money:
        said += f", and {alone * asked.money:.4f} in money, not {asked.money:.4f}"
    return said


def _broken(counts: Sequence[StageCount], plan: CascadePlan) -> list[str]:
    """A line where the labels of the rows speak against the promise, with the confidence that it was given with."""
    early = counts[: len(plan.deciding)]
    labelled, agreed = sum(count.labelled for count in early), sum(count.agreed for count in early)
    if upper_bound(agreed, labelled, plan.delta) >= plan.target:
        return []
    said = f"{agreed / labelled:.1%} of the {labelled} rows with labels that were decided early agree"
    return [f"note: {said}, not {plan.target:.4g}; the cascade was calibrated on rows of another kind"]


def _early(result: CascadeResult) -> int:
    return sum(row in result.found.decided for row in result.found.through)


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.1f}"


if __name__ == "__main__":
    run("cascade")
