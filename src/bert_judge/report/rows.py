"""The section of answers: the rows as `report.js` reads them, in compressed columns, and their texts in chunks."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bert_judge.reading import AGREEING, Match, MatchMark, match
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
        "why": [_flags(row and row.why for row in judge.verdicts) for judge in table.judges],
        "out_of_scope": [_flags(row and row.verdict.out_of_scope for row in judge.verdicts) for judge in table.judges],
        "short": _flags(_shortened(table, place, limit) for place in range(len(table.rows))),
        "cut": [_flags(row and row.verdict.truncated for row in judge.verdicts) for judge in table.judges],
    }
    return Packed(facts, _squeezed(columns), limit, table)


def _flags(values: Iterable[object]) -> str:
    """A letter for each row: 1 where it has something, else a blank."""
    return "".join("1" if value else " " for value in values)


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
        lengths += [len(text) for row in judge.verdicts if row for text in _written(row)]
    if sum(lengths) <= budget:
        return None
    fitting = (limit for limit in _LIMITS if sum(min(length, limit) for length in lengths) <= budget)
    return next(fitting, _LIMITS[-1])


def _shortened(table: VerdictTable, place: int, limit: int | None) -> bool:
    """Whether a text of a row that a search reads loses its middle."""
    if limit is None:
        return False
    row = table.rows[place]
    verdicts = (judge.verdicts[place] for judge in table.judges)
    explanations = (row.verdict.explanation or "" for row in verdicts if row)
    texts = (row.question or "", row.candidate or "", *row.references, *explanations)
    return any(len(text) > limit for text in texts)


def _written(row: Row) -> Iterator[str]:
    """What a judge wrote on a row."""
    if row.verdict.explanation is not None:
        yield row.verdict.explanation
    yield from (value for value in row.verdict.details.values() if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class _MatchedTexts:
    """The texts of a row as the page has them, and the reference that is shown as matched, by its place; `match` is
    what it has in common with the candidate. Both are None without texts.
    """

    candidate: str | None
    references: tuple[str, ...]
    reference: int | None
    match: Match | None

    @classmethod
    def of(cls, row: Row, matched: int | None, limit: int | None) -> _MatchedTexts:
        """A row; `matched` is the reference that a judge names, None where none does."""
        candidate = None if row.candidate is None else shortened(row.candidate, limit)
        references = tuple(shortened(text, limit) for text in row.references)
        if not candidate or not references:
            return cls(candidate, references, None, None)
        if matched is None or matched >= len(references):
            matched = match(candidate, references).best_reference if len(references) > 1 else 0
        return cls(candidate, references, matched, match(candidate, references[matched : matched + 1]))


def _texts(table: VerdictTable, places: range, limit: int | None, seen: dict[Any, int]) -> dict[str, Any]:
    """One chunk. Instead of a question or references that an earlier row has, it holds the number of that row."""
    rows = [table.rows[place] for place in places]
    facets = {facet.name for facet in table.facets}
    shown = [_MatchedTexts.of(row, _matched(table, place), limit) for row, place in zip(rows, places, strict=True)]
    questions = [None if row.question is None else shortened(row.question, limit) for row in rows]
    return {
        "id": [row.id for row in rows],
        "question": [
            _once(("q", row.question), question, place, seen)
            for row, question, place in zip(rows, questions, places, strict=True)
        ],
        "references": [
            _once(("r", *row.references), texts.references, place, seen)
            for row, texts, place in zip(rows, shown, places, strict=True)
        ],
        "candidate": [texts.candidate for texts in shown],
        "marks": [
            [texts.reference, _gaps(texts.match.candidate), _gaps(texts.match.references[0])] if texts.match else 0
            for texts in shown
        ],
        "more": [{name: value for name, value in row.meta.items() if name not in facets} or 0 for row in rows],
        "verdicts": [
            [_verdict_texts(judge.verdicts[place], texts, limit) for place, texts in zip(places, shown, strict=True)]
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


def _gaps(marks: Sequence[MatchMark]) -> list[int]:
    """What agrees, as numbers: in turn, the characters since the last such place, and the characters of the place."""
    numbers, end = [], 0
    for mark in marks:
        if mark.relation in AGREEING:
            numbers += [mark.start - end, mark.end - mark.start]
            end = mark.end
    return numbers


def _verdict_texts(row: Row | None, shown: _MatchedTexts, limit: int | None) -> Any:
    """A judge's verdict besides score and label, without what is empty; 0 for nothing.

    `shares`: a share of common words that speaks against the verdict; `why`: why the candidate has its score.
    """
    if row is None:
        return 0
    shares = ""
    if shown.match and shown.reference == row.verdict.matched_reference:
        shares = against(shown.match.recall[0], row.label)
    entries = {
        "explanation": shortened(row.verdict.explanation or "", limit),
        "matched": row.verdict.matched_reference,
        "truncated": row.verdict.truncated,
        "details": {name: _brief(value, limit) for name, value in row.verdict.details.items()},
        "shares": shares,
        "why": _why(row.why, row.candidate, limit) if row.why and row.candidate else None,
        "out_of_scope": row.verdict.out_of_scope,
        "left_out": not_judged(row.verdict.left_out),
    }
    return {name: value for name, value in entries.items() if value not in (None, "", {})} or 0


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
        return {name: _brief(part, limit) for name, part in value.items()}
    return [_brief(part, limit) for part in value] if isinstance(value, list) else value
