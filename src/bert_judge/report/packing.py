"""The rows of a report as `report.js` reads them: compressed columns, and texts in chunks."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bert_judge.reading import AGREEING, MatchMark, match
from bert_judge.records import Explanation, Row, uncollected
from bert_judge.report.reasons import against, because, pieces
from bert_judge.studies.pairing import judge_kinds
from bert_judge.studies.table import VerdictTable
from bert_judge.wording import not_judged

CHUNK = 512
"""Rows in a chunk of texts."""

BUDGET = 55_000_000
"""About how many characters of texts a page may have: some 20 MB once compressed."""

_LIMITS = (100_000, 50_000, 20_000, 10_000, 5_000, 3_000, 2_000, 1_500, 1_000, 700, 500, 300)
_CUT = " […] "
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Packed:
    """What the page needs first, the columns that filters read, and the chunks of texts, made one by one.

    Texts longer than `limit` lose their middle, so that the page stays small; None if none does.
    """

    facts: Mapping[str, Any]
    columns: str
    limit: int | None
    table: VerdictTable

    def chunks(self) -> Iterator[str]:
        """The texts of `CHUNK` rows each, as compressed base64."""
        seen: dict[Any, int] = {}
        for start in range(0, len(self.table.rows), CHUNK):
            places = range(start, min(start + CHUNK, len(self.table.rows)))
            with uncollected():
                texts = _texts(self.table, places, self.limit, seen)
            yield _squeezed(texts)


def pack(table: VerdictTable, budget: int = BUDGET) -> Packed:
    """Pack a table whose texts may have about `budget` characters together."""
    limit = _limit(table, budget)
    kinds = judge_kinds([judge.signature for judge in table.judges])
    facts = {
        "rows": len(table.rows),
        "chunk": CHUNK,
        "labels": table.labels is not None,
        "judges": [{"name": judge.name, "kind": kind} for judge, kind in zip(table.judges, kinds, strict=True)],
        "facets": [{"name": facet.name, "levels": facet.levels} for facet in table.facets],
        "limit": limit,
    }
    columns = {
        "gold": "".join(" " if row.gold is None else str(row.gold) for row in table.rows),
        "question": table.clusters.tolist() if len(set(table.clusters.tolist())) < len(table.rows) else None,
        "facets": [facet.codes for facet in table.facets],
        "score": [
            [None if row is None or row.score is None else round(row.score, _DIGITS) for row in judge.verdicts]
            for judge in table.judges
        ],
        "verdict": ["".join(map(_verdict, judge.verdicts)) for judge in table.judges],
        "why": ["".join("1" if row and row.why else " " for row in judge.verdicts) for judge in table.judges],
        "outside": [
            "".join("1" if row and row.verdict.outside else " " for row in judge.verdicts) for judge in table.judges
        ],
        "short": "".join("1" if _shortened(table, place, limit) else " " for place in range(len(table.rows))),
        "cut": [
            "".join("1" if row and row.verdict.truncated else " " for row in judge.verdicts) for judge in table.judges
        ],
    }
    return Packed(facts, _squeezed(columns), limit, table)


def shortened(text: str, limit: int | None) -> str:
    """A text of at most `limit` characters; a longer one loses its middle, as answers stand at the end."""
    if limit is None or len(text) <= limit:
        return text
    kept = limit - len(_CUT)
    return text[: kept // 2] + _CUT + text[len(text) - (kept - kept // 2) :]


def _squeezed(value: object) -> str:
    # As ASCII, so that lone surrogates, which UTF-8 can't encode, are kept.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


def _verdict(row: Row | None) -> str:
    """One letter: 1 correct, 0 incorrect, ? undecided, - a score without a label; a space where it was not judged."""
    if row is None:
        return " "
    if row.label is not None:
        return str(row.label)
    return "?" if row.score is None else "-"


def _limit(table: VerdictTable, budget: int) -> int | None:
    """The longest text that fits the budget; a repeated question counts once."""
    lengths = [len(text) for text in {row.question or "" for row in table.rows}]
    lengths += [len(text) for texts in {row.references for row in table.rows} for text in texts]
    lengths += [len(row.candidate or "") for row in table.rows]
    for judge in table.judges:
        lengths += [len(text) for row in judge.verdicts if row for text in _said(row)]
    if sum(lengths) <= budget:
        return None
    fitting = (limit for limit in _LIMITS if sum(min(length, limit) for length in lengths) <= budget)
    return next(fitting, _LIMITS[-1])


def _shortened(table: VerdictTable, place: int, limit: int | None) -> bool:
    """Whether a text of a row that a search reads loses its middle."""
    if limit is None:
        return False
    row = table.rows[place]
    told = (judge.verdicts[place] for judge in table.judges)
    said = (own.verdict.explanation or "" for own in told if own)
    return any(len(text) > limit for text in (row.question or "", row.candidate or "", *row.references, *said))


def _said(row: Row) -> Iterator[str]:
    """What a judge wrote on a row."""
    if row.verdict.explanation is not None:
        yield row.verdict.explanation
    yield from (value for value in row.verdict.details.values() if isinstance(value, str))


def _texts(table: VerdictTable, places: range, limit: int | None, seen: dict[Any, int]) -> dict[str, Any]:
    """One chunk. Instead of a question or references that an earlier row has, it holds the number of that row."""
    rows = [table.rows[place] for place in places]
    facets = {facet.name for facet in table.facets}
    texts = [
        (shortened(row.candidate or "", limit), tuple(shortened(text, limit) for text in row.references))
        for row in rows
    ]
    found = [_evidence(*own, _matched(table, place)) for own, place in zip(texts, places, strict=True)]
    return {
        "id": [row.id for row in rows],
        "question": [
            _once(("q", row.question), None if row.question is None else shortened(row.question, limit), place, seen)
            for row, place in zip(rows, places, strict=True)
        ],
        "references": [
            _once(("r", *row.references), own[1], place, seen)
            for row, own, place in zip(rows, texts, places, strict=True)
        ],
        "candidate": [own[0] if row.candidate is not None else None for row, own in zip(rows, texts, strict=True)],
        "marks": [each and [each[0], _gaps(each[1].candidate), _gaps(each[1].references[0])] for each in found],
        "more": [{name: value for name, value in row.meta.items() if name not in facets} or 0 for row in rows],
        "said": [
            [
                _saying(judge.verdicts[place], each, row.candidate, limit)
                for place, row, each in zip(places, rows, found, strict=True)
            ]
            for judge in table.judges
        ],
    }


def _once(key: Any, value: Any, place: int, seen: dict[Any, int]) -> Any:
    first = seen.setdefault(key, place)
    return value if first == place or not value else first


def _matched(table: VerdictTable, place: int) -> int | None:
    """The best-matching reference, by the first judge that names one."""
    rows = (judge.verdicts[place] for judge in table.judges)
    return next(
        (row.verdict.matched_reference for row in rows if row and row.verdict.matched_reference is not None), None
    )


def _evidence(candidate: str, references: Sequence[str], shown: int | None) -> Any:
    """The reference shown as matched, and what the candidate has in common with it; 0 for nothing."""
    if not candidate or not references:
        return 0
    if shown is None or shown >= len(references):
        shown = match(candidate, references).best_reference if len(references) > 1 else 0
    return shown, match(candidate, references[shown : shown + 1])


def _gaps(marks: Sequence[MatchMark]) -> list[int]:
    """What agrees, as numbers: in turn, the characters since the last such place, and the characters of the place."""
    numbers, end = [], 0
    for mark in marks:
        if mark.relation in AGREEING:
            numbers += [mark.start - end, mark.end - mark.start]
            end = mark.end
    return numbers


def _saying(row: Row | None, shared: Any, candidate: str | None, limit: int | None) -> Any:
    """A judge's explanation, matched reference, truncated characters and details, what of the words that candidate and
    reference share speaks against its verdict, why the candidate has its score, why the row is outside of what the
    judge knows, and what is not part of the answer; 0 for none of them.
    """
    if row is None:
        return 0
    details = {name: _brief(value, limit) for name, value in row.verdict.details.items()}
    explanation = "" if row.verdict.explanation is None else shortened(row.verdict.explanation, limit)
    match = -1 if row.verdict.matched_reference is None else row.verdict.matched_reference
    shares = against(shared[1].recall[0], row.label) if shared and shared[0] == match else ""
    why = _why(row.why, candidate, limit) if row.why and candidate else 0
    said = [
        explanation,
        match,
        row.verdict.truncated or 0,
        details or 0,
        shares,
        why,
        row.verdict.outside or "",
        not_judged(row.verdict.left_out),
    ]
    return said if said != ["", -1, 0, 0, "", 0, "", ""] else 0


def _why(why: Explanation, candidate: str, limit: int | None) -> Any:
    """The reason in words, and the candidate in pieces: parts that matter with their effects, other text with 0."""
    parts = [[shortened(text, limit), round(effect or 0.0, _DIGITS)] for text, effect in pieces(candidate, why)]
    return [because(why), parts]


def _brief(value: Any, limit: int | None) -> Any:
    """A detail with shortened texts and rounded numbers."""
    if isinstance(value, str):
        return shortened(value, limit)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS + 1}g}")
    if isinstance(value, Mapping):
        return {name: _brief(each, limit) for name, each in value.items()}
    return [_brief(each, limit) for each in value] if isinstance(value, list) else value
