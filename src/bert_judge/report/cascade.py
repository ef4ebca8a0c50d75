"""A cascade as documents: what it promises after its calibration, and what its stages did in a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bert_judge.judges.base import Costs
from bert_judge.judges.cascade import UNCERTIFIED, CascadePlan
from bert_judge.measures import Estimate
from bert_judge.report.document import Block, Content, Document, Table
from bert_judge.studies.cascade import (
    CascadeResult,
    CascadeSettings,
    StageCount,
    StageResult,
    stage_counts,
)
from bert_judge.wording import SAID, percent


def calibration_document(result: CascadeResult, settings: CascadeSettings) -> Document:
    """The thresholds of each stage, the rows they were calibrated on, and what is promised."""
    plan, thresholds, origin = result.plan, result.thresholds, result.plan.calibration
    early, labelled = len(thresholds.decided), origin["labelled"]
    calibrated = (
        f"calibrated on {labelled} labelled rows to {origin['questions']} questions in {origin['file']}; "
        f"{percent(origin['right'] / labelled)} correct"
    )
    of_side = 1 - settings.delta / (2 * len(thresholds.stages))
    promise = f"{_promise(plan)} ({_percent(of_side)} for each stage and side)"
    lines = [line for stage in thresholds.stages for line in _stage_lines(stage, result.seconds)]
    if plan.last:
        seconds = _milliseconds(result.seconds.get(plan.last.name))
        lines.append([plan.last.name, "the rest", labelled - early, *[""] * 4, seconds])
    head = ["stage", "side", "reached", "score", "decided", "agreement", "at least", "ms a row"]
    decided = f"decided before {_end(plan)}: {early} of {labelled} rows ({percent(early / labelled)})"
    decided += f"; agreement {percent(result.agreement)}"
    parts: list[Block] = [f"{calibrated}\n{promise}", Table("", head, lines), decided]
    notes = [line for stage in thresholds.stages for line in _shortfalls(stage)]
    return Document("Calibration", parts, notes)


def stages_document(plan: CascadePlan, use: Sequence[Costs], records: Iterable[Mapping[str, object]]) -> Document:
    """What each stage of a cascade did: rows and agreement in the whole result, of which `records` are the lines of
    `verdicts.jsonl`; and what each has used.
    """
    counts, early = stage_counts(records, plan)
    rows = counts[0].reached
    head = ["stage", "reached", "decided", "of all", "agreement", "seconds", "requests", "money"]
    body = [_use_line(count, use, rows) for count, use in zip(counts, use, strict=True)]
    shown = [place for place in range(len(head)) if any(line[place] != "" for line in body)]
    saving = _saving(counts, use, plan.abstain)
    table = Table("", [head[place] for place in shown], [[line[place] for place in shown] for line in body], saving)
    return Document("Stages", [table, _promise(plan)], _broken(early, plan))


def _promise(plan: CascadePlan) -> str:
    if plan.target is None or plan.delta is None:
        rows = plan.calibration["file"]
        return f"no promise: {UNCERTIFIED} (chosen on {rows}); bert-judge cascade finds certified ones, on your labels"
    whom = "human labels" if plan.agree_with == "people" else plan.agree_with.removeprefix("last: ")
    return (
        f"promise: at least {_percent(plan.target)} of the rows decided before {_end(plan)} agree with {whom},\n"
        f"         in {_percent(1 - plan.delta)} of calibrations"
    )


def _end(plan: CascadePlan) -> str:
    return "the last stage" if plan.last else "the end"


def _percent(rate: float) -> str:
    """A rate that was chosen, in full."""
    return f"{100 * rate:.4g}%"


def _stage_lines(stage: StageResult, seconds: Mapping[str, float]) -> list[list[Content]]:
    """A line for each side of a stage."""
    lines: list[list[Content]] = []
    for label, certificate, sign in ((1, stage.high, ">="), (0, stage.low, "<=")):
        cells: list[Content] = [None, 0, None, None]
        if certificate:
            agreement = percent(certificate.agreed / certificate.rows)
            cells = [f"{sign} {certificate.threshold:g}", certificate.rows, agreement, percent(certificate.at_least)]
        lines.append([stage.name, SAID[label], stage.asked, *cells, _milliseconds(seconds.get(stage.name))])
    lines[1][0] = lines[1][-1] = ""
    return lines


def _shortfalls(stage: StageResult) -> list[str]:
    """Notes on the sides that have no threshold."""
    if not (stage.high or stage.low):
        return [f"{stage.name} decides nothing: leave it out, or lower target_agreement"]
    missing = [SAID[label] for label, certificate in ((1, stage.high), (0, stage.low)) if not certificate]
    return [f"{stage.name} judges nothing {label}: lower target_agreement for that" for label in missing]


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
    saving = f"{rows - last.reached} of {rows} rows ({percent(1 - last.reached / rows)}) never reached {last.name}"
    cost, seconds = use[-1], sum(stage.seconds for stage in use)
    if not cost.rows or not cost.seconds:
        return saving
    share = use[0].rows / cost.rows
    saving += f"; alone it would have taken about {share * cost.seconds:.1f} s, not {seconds:.1f} s"
    if cost.money:
        saving += f", and {share * cost.money:.4f} in money, not {cost.money:.4f}"
    return saving


def _broken(early: Estimate, plan: CascadePlan) -> list[str]:
    """A note where the labels of the rows contradict the promise."""
    if plan.target is None or early.high is None or early.high >= plan.target:
        return []
    agreement = f"{percent(early.value)} of the rows with labels that were decided early agree"
    return [f"{agreement}, not {_percent(plan.target)}; the cascade was calibrated on rows of another kind"]


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.1f}"
