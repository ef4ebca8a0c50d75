"""What a cascade promises after its calibration, and what its stages did in a run, as documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bert_judge.analysis.calibrate import CascadeResult, CascadeSettings, Side, StageCount, StageResult, stage_counts
from bert_judge.document import Block, Content, Document, Table
from bert_judge.judges.base import Costs
from bert_judge.judges.cascade import Cascade, CascadePlan
from bert_judge.stats.certified import upper_bound
from bert_judge.wording import SAID, percent


def calibration_document(result: CascadeResult, settings: CascadeSettings) -> Document:
    """The thresholds of each stage, the rows they were calibrated on, and what is promised."""
    plan, found, seen = result.plan, result.found, result.plan.calibration
    early, through = sum(row in found.decided for row in found.through), len(found.through)
    end = "the last stage" if plan.last else "the end"
    whom = "human labels" if plan.agree_with == "people" else plan.agree_with.removeprefix("last: ")
    calibrated = (
        f"calibrated on {seen['questions']} questions, one row of each, from {seen['rows']} rows in {seen['file']}; "
        f"{percent(seen['right'] / seen['questions'])} correct"
    )
    each = 1 - settings.delta / (2 * len(found.stages))
    promise = (
        f"promise: {plan.target:.4g} of the rows decided before {end} agree with {whom},\n"
        f"         with confidence {1 - plan.delta:.4g} ({each:.4g} for each stage and side)"
    )
    lines = [line for stage in found.stages for line in _stage_lines(stage, result.seconds)]
    if plan.last:
        took = _milliseconds(result.seconds.get(plan.last.name))
        lines.append([plan.last.name, "the rest", through - early, *[""] * 4, took])
    head = ["stage", "side", "reached", "score", "decided", "agreement", "at least", "ms a row"]
    agreed = f", of which {percent(result.agreed / early)} agree" if early else ""
    decided = f"decided before {end}: {early} of {through} rows ({percent(early / through)}){agreed}"
    parts: list[Block] = [f"{calibrated}\n{promise}", Table("", head, lines), decided]
    return Document("Calibration", parts, [line for stage in found.stages for line in _shortfalls(stage, settings)])


def stages_document(cascade: Cascade, records: Iterable[Mapping[str, object]]) -> Document:
    """What each stage of a cascade did: rows and agreement in the whole result, time and costs of this process."""
    counts = stage_counts(records, cascade.plan)
    rows = counts[0].reached
    head = ["stage", "reached", "decided", "of all", "agreement", "seconds", "requests", "money"]
    body = [_use_line(count, use, rows) for count, use in zip(counts, cascade.use, strict=True)]
    shown = [place for place in range(len(head)) if any(line[place] != "" for line in body)]
    saving = _saving(counts, cascade.use, cascade.plan.abstain)
    table = Table("", [head[place] for place in shown], [[line[place] for place in shown] for line in body], saving)
    return Document("Stages", [table], _broken(counts, cascade.plan))


def _stage_lines(stage: StageResult, seconds: Mapping[str, float]) -> list[list[Content]]:
    """A line for each side of a stage."""
    lines: list[list[Content]] = []
    for side, sign in ((stage.high, ">="), (stage.low, "<=")):
        cells: list[Content] = [None, 0, None, None]
        if found := side.certificate:
            agreement = percent(found.agreed / found.rows)
            cells = [f"{sign} {found.threshold:g}", found.rows, agreement, percent(found.at_least)]
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


def _broken(counts: Sequence[StageCount], plan: CascadePlan) -> list[str]:
    """A note where the labels of the rows contradict the promise, at its confidence."""
    early = counts[: len(plan.deciding)]
    labelled, agreed = sum(count.labelled for count in early), sum(count.agreed for count in early)
    if upper_bound(agreed, labelled, plan.delta) >= plan.target:
        return []
    said = f"{percent(agreed / labelled)} of the {labelled} rows with labels that were decided early agree"
    return [f"{said}, not {plan.target:.4g}; the cascade was calibrated on rows of another kind"]


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.1f}"
