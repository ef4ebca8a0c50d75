"""The flags by which every command reads files of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from bert_judge.cli.flags import as_flags
from bert_judge.errors import InputError
from bert_judge.inputs import FORMATS, ColumnMap, Source, open_source
from bert_judge.results import PART_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """How files of answers are read."""

    map: Annotated[ColumnMap | None, "columns by name: question=q,reference=gold,candidate=out (also id=, label=)"] = (
        None
    )
    input_format: Annotated[str | None, f"{', '.join(FORMATS)} (default: from its name or beginning)"] = None
    limit: Annotated[int | None, "only the first N rows"] = None
    skip_bad_rows: Annotated[bool, "set unreadable rows aside instead of stopping"] = False
    numbers_as_text: Annotated[bool, "read numbers in text columns as text, exactly as written"] = False
    reference_separator: Annotated[str | None, "what stands between several references in one text, such as '; '"] = (
        None
    )


def input_settings(options: InputOptions) -> dict[str, Any]:
    """The options that change which rows are judged, and how they are read."""
    return {
        name: getattr(options, name)
        for name in ("map", "limit", "skip_bad_rows", "numbers_as_text", "reference_separator")
    }


def open_input(
    path: str | Sequence[str],
    options: InputOptions,
    *,
    columns: ColumnMap | None = None,
    model: str | None = None,
    without: Sequence[str] = (),
    part_rows: int | None = None,
) -> Source:
    """The checked input; `columns` in place of those of the options.

    Raises what `open_source` does, whose messages then name flags.
    """
    try:
        return open_source(
            path,
            columns=columns or options.map,
            input_format=options.input_format,
            limit=options.limit,
            skip_bad_rows=options.skip_bad_rows,
            numbers_as_text=options.numbers_as_text,
            reference_separator=options.reference_separator,
            model=model,
            without=without,
            part_rows=part_rows or PART_ROWS,
        )
    except InputError as error:
        error.args = (as_flags(str(error)),)
        raise
