"""Read JSON lines, a JSON list, CSV or TSV from a stream of bytes, a row at a time."""

from __future__ import annotations

import codecs
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import BinaryIO, Final

from bert_judge.errors import InputError
from bert_judge.inputs.limits import FILES, Limits, check_whole
from bert_judge.inputs.values import NumberText, RawRow, as_json, mapping
from bert_judge.wording import text_of_csv

BLANK: Final = b"\xef\xbb\xbf \t\r\n"
"""The bytes of byte-order marks and white space."""

_number = lru_cache(maxsize=4096)(NumberText)  # long lists repeat numbers
_DECODER: Final = json.JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=_number)
_CHUNK = 1 << 18
_FIRST_BYTES = 4 << 20  # enough to show which tool wrote a file
# A JSON error so close to the end of the window may come from the cut, not from the file.
_LONGEST_TOKEN = 16
_BOM = "\ufeff"  # some programs write two; concatenated JSON lines have one in their middle
_MARK = re.compile(r"[^ \t\r\n]")
_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"?')
_SAVE_AS_UTF8 = 'save it as UTF-8, in Excel as "CSV UTF-8", or convert it with iconv -f WINDOWS-1252 -t UTF-8'
_EXCELS_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


def read_jsonl(stream: BinaryIO, name: str, skip: int = 0, limits: Limits = FILES) -> Iterator[RawRow]:
    """Yield one row for each line that is not blank, after the first `skip` of these."""
    for line, data in enumerate(_lines(stream, name, limits), 1):
        if not data.strip(BLANK):
            continue
        if skip:
            skip -= 1
        else:
            yield _line_row(line, data)


def _line_row(line: int, data: bytes) -> RawRow:
    try:
        text = data.decode().lstrip(_BOM).strip()
        return _object_row(line, parsed(text), text)
    except UnicodeDecodeError as error:
        return RawRow(line, None, _not_utf8(error), data.decode(errors="replace").strip())
    except (ValueError, RecursionError) as error:
        return RawRow(line, None, f"is not valid JSON ({_cause(error)}), and each line must be one object", text)


def _lines(stream: BinaryIO, name: str, limits: Limits) -> Iterator[bytes]:
    """The lines of a stream. Raises InputError before it holds a line that is too long."""
    for number, line in enumerate(iter(lambda: stream.readline(limits.whole + 1), b""), 1):
        check_whole(len(line), limits, f"{name} line {number:,}")
        yield line


def read_json_list(stream: BinaryIO, name: str, limits: Limits = FILES) -> Iterator[RawRow]:
    """Yield one row for each element of a JSON list; one element is in memory at a time."""
    for number, (_, value, text) in enumerate(read_json(stream, name, "[", (), limits), 1):
        yield _object_row(number, value, text)


def read_json(
    stream: BinaryIO,
    name: str,
    start: str,
    lists: Collection[str] = (),
    limits: Limits = FILES,
    most: int = sys.maxsize,
) -> Iterator[tuple[str, object, str]]:
    """Yield name (empty in a list), value and text of each item of a JSON object or list; one is in memory at a time.

    `start` is how the JSON begins: { or [. A list whose name is in `lists` is yielded by element, each with the name of
    the list. Raises InputError where the JSON is broken, or longer than `most` bytes.
    """
    buffer = _JsonBuffer(stream, name, limits, most)
    if buffer.peek() != start:
        raise buffer.broken(f"{'a list of objects' if start == '[' else 'an object'} was expected")
    yield from _items(buffer, lists)
    if buffer.peek():
        raise buffer.broken(f"there is more after the end of the {'list' if start == '[' else 'object'}")


def first_values(stream: BinaryIO, name: str, start: str) -> Iterator[Mapping[str, object]]:
    """What JSON begins with: the members of its object, one more each time, or the first element of its list.

    Raises InputError where the JSON is broken, and where the object is too large to show what wrote it.
    """
    members: dict[str, object] = {}
    for key, value, _ in read_json(stream, name, start, most=_FIRST_BYTES):
        if start == "[":
            yield mapping(value)
            return
        members[key] = value
        yield members


def parsed(text: str) -> object:
    """The value of a JSON text, with numbers as `NumberText`. Raises ValueError or RecursionError."""
    value: object = _DECODER.decode(text)
    return value


def _items(buffer: _JsonBuffer, lists: Collection[str] = ()) -> Iterator[tuple[str, object, str]]:
    end = "}" if buffer.peek() == "{" else "]"
    buffer.take()
    mark = end if buffer.peek() == end else ","
    if mark == end:
        buffer.take()
    while mark == ",":
        key = buffer.key() if end == "}" else ""
        if key in lists and buffer.peek() == "[":
            yield from ((key, value, text) for _, value, text in _items(buffer))
        else:
            yield key, *buffer.value()
        mark = buffer.peek()
        if mark not in (",", end):
            raise buffer.broken(f"',' or '{end}' was expected" if mark else "it has no end")
        buffer.take()


def read_csv(stream: BinaryIO, name: str, delimiter: str | None, limits: Limits = FILES) -> Iterator[RawRow]:
    """Yield one row for each record below the header; a record may span many lines.

    The default delimiter is the most frequent one in the header's first line (a comma, a semicolon or a tab), or that
    of a first line `sep=;`, as Excel writes it. Blank lines and records of blank cells are skipped.
    """
    # This limit is that of the whole process, so it is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), limits.whole))
    lines = _TextLines(stream, name, limits)
    kind, head = "CSV" if delimiter is None else "TSV", list[str]()
    if delimiter is None:
        head, delimiter = _delimited_head(lines)
    # Without `strict`, an unclosed quote would silently swallow the rest of the file into one cell.
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    header: list[str] = []
    line = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            cells, problem = [], f"is not valid {kind} ({error})"
        else:
            problem = lines.problem
        if cells is None:
            return
        if problem and not header:
            raise InputError(f"{name} line {line} {problem}; its header must be right before any row can be read.")
        if any(cells) and header and len(cells) != len(header):
            problem = problem or f"has {len(cells)} cells where the header has {len(header)}"
        if problem:
            yield RawRow(line, None, problem, as_json(cells))
        elif cells and not header:
            header = _header(list(map(text_of_csv, cells)), name, limits)
        elif any(cells):
            yield RawRow(line, dict(zip(header, map(text_of_csv, cells), strict=True)), cells=True)
        line = reader.line_num + 1
        lines.start_record()


def _delimited_head(lines: Iterator[str]) -> tuple[list[str], str]:
    """The lines up to the first that is not blank, and the delimiter that it shows; a line `sep=;` becomes blank."""
    head: list[str] = []
    for line in lines:
        if named := _EXCELS_LINE.fullmatch(line):
            return [*head, "\n"], named[1]
        head.append(line)
        if line.strip():
            break
    unquoted = _QUOTED.sub("", head[-1] if head else "")
    return head, max(_DELIMITERS, key=unquoted.count)


def _header(cells: list[str], name: str, limits: Limits) -> list[str]:
    if len(cells) > limits.columns:
        raise InputError(f"the header of {name} has {len(cells):,} columns; up to {limits.columns:,} are taken.")
    repeated = [cell for cell, count in Counter(cells).items() if cell and count > 1]
    if repeated:
        raise InputError(f"{name} has more than one column {repeated[0]!r} in its header; rename all but one of them.")
    return cells


def _object_row(line: int, value: object, text: str) -> RawRow:
    if isinstance(value, dict):
        return RawRow(line, value, "", text)
    hint = ""
    if isinstance(value, list):
        hint = " (a file that is one list is read with input_format='json')"
    elif type(value) is str:
        hint = " (a list of texts, as `generate` writes candidates, is judged by `bert-judge judge` with its task)"
    return RawRow(line, None, f"holds no JSON object{hint}", text)


def _not_utf8(error: UnicodeDecodeError) -> str:
    byte = error.object[error.start]
    return f"is not UTF-8 text (the byte 0x{byte:02x} at its position {error.start + 1}; {_SAVE_AS_UTF8})"


def _cause(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


class _TextLines:
    """The lines of a stream as text; `problem` is what is wrong with the record so far, if it is not all UTF-8."""

    def __init__(self, stream: BinaryIO, name: str, limits: Limits) -> None:
        self._lines = _lines(stream, name, limits)
        self._name, self._limits = name, limits
        self._line = self._size = 0
        self.problem = ""

    def start_record(self) -> None:
        """The next line belongs to another record."""
        self.problem, self._size = "", 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        data = next(self._lines)
        self._line, self._size = self._line + 1, self._size + len(data)
        check_whole(self._size, self._limits, f"the record at line {self._line:,} of {self._name}")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self.problem = self.problem or _not_utf8(error)
            text = data.decode(errors="replace")
        return text.lstrip(_BOM) if self._line == 1 else text


class _JsonBuffer:
    """A window on a JSON text that grows until the value at its start is complete, up to `most` bytes of text."""

    def __init__(self, stream: BinaryIO, name: str, limits: Limits, most: int) -> None:
        self._stream, self._left, self._name, self._limits = stream, most, name, limits
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._line = "", 0, 1

    def _more(self) -> bool:
        """Drop the part before the window's start and read on; returns whether there was more."""
        rest = self._text[self._at :]
        check_whole(len(rest), self._limits, f"the value at line {self._line:,} of {self._name}")
        # The window doubles, so that a large value is parsed only a few times.
        data = self._stream.read(min(max(_CHUNK, len(rest)), self._left))
        self._left -= len(data)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = self._line + rest.count("\n") + error.object.count(b"\n", 0, error.start)
            raise InputError(
                f"{self._name} line {line} is not UTF-8 text (the byte 0x{error.object[error.start]:02x}); "
                f"{_SAVE_AS_UTF8}."
            ) from error
        if not self._text:  # the beginning
            text = text.lstrip(_BOM)
        self._text, self._at = rest + text, 0
        return bool(data)

    def _advance(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def peek(self) -> str:
        """The next character that is not white space, which stays in the window; empty at the end."""
        while not (mark := _MARK.search(self._text, self._at)):
            self._advance(len(self._text))
            if not self._more():
                return ""
        self._advance(mark.start())
        return mark[0]

    def take(self) -> None:
        """Move past the character that `peek` returned."""
        self._at += 1

    def value(self) -> tuple[object, str]:
        """The next value and its text."""
        self.peek()
        while True:
            value: object
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                may_be_cut = error.msg.startswith("Unterminated string") or error.pos + _LONGEST_TOKEN > len(self._text)
                if not may_be_cut or not self._more():
                    self._advance(min(error.pos, len(self._text)))
                    raise self.broken(error.msg) from error
                continue
            except RecursionError as error:
                raise self.broken("it is nested too deeply") from error
            # A number at the end of the window may continue after it.
            if end == len(self._text):
                end -= self._at
                if self._more():
                    continue
            text = self._text[self._at : end]
            self._advance(end)
            return value, text

    def key(self) -> str:
        """The name of a member; moves past the colon after it."""
        key, _ = self.value()
        if not isinstance(key, str) or self.peek() != ":":
            raise self.broken("a name and ':' were expected")
        self.take()
        return key

    def broken(self, cause: str) -> InputError:
        """The error for JSON that can't be read further."""
        return InputError(
            f"{self._name} line {self._line} is not valid JSON ({cause}); fix it, or write one object per line "
            "(JSON lines), where bad rows can be set aside."
        )
