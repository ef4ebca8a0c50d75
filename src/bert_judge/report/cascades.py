"""What a cascade promises after its calibration, and what its stages did in a run, as documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bert_judge.judges.base import Costs
from bert_judge.judges.cascade import CascadePlan
from bert_judge.report.document import Block, Content, Document, Table
from bert_judge.studies.calibrate import CascadeResult, StageCount, early_agreement, stage_counts
from bert_judge.studies.thresholds import CascadeSettings, Side, StageResult
from bert_judge.wording import SAID, percent


def calibration_document(result: CascadeResult, settings: CascadeSettings) -> Document:
    """The thresholds of each stage, the rows they were calibrated on, and what is promised."""
    plan, found, seen = result.plan, result.found, result.plan.calibration
    early, through = sum(row in found.decided for row in found.through), len(found.through)
    calibrated = (
        f"calibrated on {seen['labelled']} labelled rows to {seen['questions']} questions in {seen['file']}; "
        f"{percent(seen['right'] / seen['labelled'])} correct"
    )
    each = 1 - settings.delta / (2 * len(found.stages))
    promise = f"promise: {_promise(plan)} ({_percent(each)} for each stage and side)"
    lines = [line for stage in found.stages for line in _stage_lines(stage, result.seconds)]
    if plan.last:
        took = _milliseconds(result.seconds.get(plan.last.name))
        lines.append([plan.last.name, "the rest", through - early, *[""] * 4, took])
    head = ["stage", "side", "reached", "score", "decided", "agreement", "at least", "ms a row"]
    agreed = f"; agreement {percent(result.agreement)}{_COUNTING[plan.certifies]}" if early else ""
    decided = f"decided before {_end(plan)}: {early} of {through} rows ({percent(early / through)}){agreed}"
    parts: list[Block] = [f"{calibrated}\n{promise}", Table("", head, lines), decided]
    return Document("Calibration", parts, [line for stage in found.stages for line in _shortfalls(stage, settings)])


def stages_document(
    plan: CascadePlan, use: Sequence[Costs], records: Callable[[], Iterable[Mapping[str, object]]]
) -> Document:
    """What each stage of a cascade did: rows and agreement in the whole result; and what each has used.

    `records` gives the lines of its `verdicts.jsonl` each time it is called.
    """
    counts = stage_counts(records(), plan)
    rows = counts[0].reached
    head = ["stage", "reached", "decided", "of all", "agreement", "seconds", "requests", "money"]
    body = [_use_line(count, use, rows) for count, use in zip(counts, use, strict=True)]
    shown = [place for place in range(len(head)) if any(line[place] != "" for line in body)]
    saving = _saving(counts, use, plan.abstain)
    table = Table("", [head[place] for place in shown], [[line[place] for place in shown] for line in body], saving)
    return Document("Stages", [table, f"promise: {_promise(plan)}"], _broken(early_agreement(records(), plan), plan))


_COUNTING = {
    "rows": "",
    "questions": ", each question counting alike",
    "sources": ", each source counting alike",
}


def _promise(plan: CascadePlan) -> str:
    whom = "human labels" if plan.agree_with == "people" else plan.agree_with.removeprefix("last: ")
    return (
        f"at least {_percent(plan.target)} of the rows decided before {_end(plan)} agree with {whom}"
        f"{_COUNTING[plan.certifies]},\n         in {_percent(1 - plan.delta)} of calibrations"
    )


def _end(plan: CascadePlan) -> str:
    return "the last stage" if plan.last else "the end"


def _percent(rate: float) -> str:
    """A rate that was chosen, in full."""
    return f"{100 * rate:.4g}%"


def _stage_lines(stage: StageResult, seconds: Mapping[str, float]) -> list[list[Content]]:
    """A line for each side of a stage."""
    lines: list[list[Content]] = []
    for side, sign in ((stage.high, ">="), (stage.low, "<=")):
        cells: list[Content] = [None, 0, None, None]
        if found := side.certificate:
            cells = [f"{sign} {found.threshold:g}", found.rows, percent(side.agreement), percent(found.at_least)]
        lines.append([stage.name, SAID[side.label], side.reached, *cells, _milliseconds(seconds.get(stage.name))])
    lines[1][0] = lines[1][-1] = ""
    return lines


def _shortfalls(stage: StageResult, settings: CascadeSettings) -> list[str]:
    """Notes on the sides that have no threshold."""
    sides = [side for side in (stage.high, stage.low) if not side.certificate]
    lines = [f"{stage.name} decides nothing: leave it out, or lower --target_agreement"] if len(sides) == 2 else []
    return lines + [f"{stage.name} judges nothing {SAID[side.label]}: {_could(side, settings)}" for side in sides]


def _could(side: Side, settings: CascadeSettings) -> str:
    if side.reachable is None:
        return "no agreement from 0.5 on can be certified"
    target, rate = side.reachable
    return f"{target:.2g} could be certified, not {settings.target_agreement:.4g} ({rate:.0%} of its rows then)"


def _use_line(count: StageCount, use: Costs, rows: int) -> list[Content]:
    return [
        *(count.name, count.reached, count.decided, percent(count.decided / rows if rows else None)),
        percent(count.agreed / count.labelled if count.labelled else None),
        f"{use.seconds:.1f}" if use.rows else None,
        use.requests if use.requests or use.cached else "",
        "" if use.money is None else f"{use.money:.4f}",
    ]


def _saving(counts: Sequence[StageCount], use: Sequence[Costs], abstain: bool) -> str:
    """How many rows the last stage did not judge, and what it would have taken alone."""
    rows, last = counts[0].reached, counts[-1]
    if abstain:
        left = last.reached - last.decided
        return f"undecided: {left} of {rows} rows ({percent(left / rows)}), on which no stage was certain"
    said = f"{rows - last.reached} of {rows} rows ({percent(1 - last.reached / rows)}) never reached {last.name}"
    asked, taken = use[-1], sum(each.seconds for each in use)
    if not asked.rows or not asked.seconds:
        return said
    alone = use[0].rows / asked.rows
    said += f"; alone it would have taken about {alone * asked.seconds:.1f} s, not {taken:.1f} s"
    if asked.money:
        said += f", and {alone * asked.money:.4f} in money, not {asked.money:.4f}"
    return said


def _broken(early: tuple[float, float] | None, plan: CascadePlan) -> list[str]:
    """A note where the labels of the rows contradict the promise, at its confidence."""
    if early is None or early[1] >= plan.target:
        return []
    said = f"{percent(early[0])} of the rows with labels that were decided early agree{_COUNTING[plan.certifies]}"
    return [f"{said}, not {_percent(plan.target)}; the cascade was calibrated on rows of another kind"]


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.1f}"
