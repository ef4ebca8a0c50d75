"""The options that a question lists, and a reference that names one of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from bert_judge.reading.evidence import tables

_LABEL = re.compile(r"(?<!\S)\(?(?:([A-J])[).:]|([a-j])\))(?=\s)")
_INDENT = re.compile(r"^[ \t]*", re.MULTILINE)
_LINK = re.compile(r"(?: (?:or|and)|[,;])+$")
_LETTER = re.compile(r"\s*(?:(?:option|answer|choice)\s+)?\(?([A-J])[).:]?\s*", re.IGNORECASE)
_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff]"  # a letter or digit, but for those that need no spaces
_ALONE = re.compile(  # the letter comes first, and what is before it after that, for speed
    rf"[A-Ja-j](?!{_LATIN})(?:"
    rf"(?<=[A-J])(?<!{_LATIN}.)(?<!\\.)(?<![A-Za-z]'.)(?!['-]\w|\\|\s*[=^+~]| [*/<>] |\.\w|[#-](?!\w))"
    r"|(?<=\([a-j])(?=\))|(?<=>[a-j])(?=</)|(?<=[Oo]ption [a-j])(?!\w))"
)
_NAMED = re.compile(  # a small letter that is said to be the answer
    r"\b(?:(?:answer|option|choice)(?: is|:| would be)?|go(?:ing)? (?:with|for)|choose|chose|pick|select(?:ed)?|say"
    r"|it(?:'s| is))[ *_]*\s+[*_(]{0,3}([b-j]|a(?=[)*_.]|\W*$))(?![\w'])(?!-\w)",
    re.IGNORECASE,
)
_ONLY = re.compile(r"[\W_]*([a-j])[\W_]*")
_AND = r"[,;/&+|•*-]|\b(?:and|or)\b"
_LIST = re.compile(rf"(?<![\w'])[A-J](?:\s*(?:{_AND})(?:\s|{_AND})*[A-J](?![\w']))+")  # "A, C and D"
_AFTER = re.compile(r" ([a-z]+)")
_SAID_WITHIN = 2_000  # characters
_AFTER_I = frozenset(("is", "and", "or"))
_WHOLE_BEGIN = re.compile(r"\s*\(([A-J])\)\s")
_WHOLE = re.compile(r"\s*\(?([A-J])[).:]\s+(.+)", re.DOTALL)


def name_option(reference: str, question: str | None) -> str:
    """A reference that is the letter or the words of an option which the question lists, as both: "(B) iron".

    Any other reference stays as it is, and so does every reference of a question without options.
    """
    options = find_options(question) if question else {}
    if not options:
        return reference
    letter, whole = _LETTER.fullmatch(reference), _WHOLE.fullmatch(reference)
    if letter:
        named = letter[1].upper()
    elif whole and _plain(options.get(whole[1], "")) == _plain(whole[2]):
        named = whole[1]
    else:
        named = next((option for option, text in options.items() if _plain(text) == _plain(reference)), "")
    return f"({named}) {options[named]}" if named in options else reference


class Options(NamedTuple):
    """The options that a question lists, by letter, and the question before them."""

    stem: str
    texts: dict[str, str]


def find_options(question: str) -> dict[str, str]:
    """The options that a question lists, by letter: "(A) iron (B) lead", "A. iron", one a line or all in one.

    Their letters begin with A and leave none out; the last such list counts, one of capital letters that begin lines
    before any other. Empty where there are not two of them.
    """
    return split_options(question).texts


@lru_cache(maxsize=4_096)
def split_options(question: str) -> Options:
    """A question and the options that it lists, as in `find_options`."""
    labels = list(_LABEL.finditer(question))
    capital = [label for label in labels if label[1]]
    lines = {line.end() for line in _INDENT.finditer(question)}
    leading = [label for label in capital if label.start() in lines]
    # An option may have parts with letters of their own: "(A) (a) iron, (b) lead".
    every = (_listed(found, question) for found in (leading, capital, labels))
    return next((options for options in every if options.texts), Options(question, {}))


def letters_in(text: str) -> list[tuple[str, int]]:
    """The letters of a text that can name options, upper case, and where they stand; no articles or pronouns."""
    only = _ONLY.fullmatch(text)
    if only:
        return [(only[1].upper(), only.start(1))]
    letters = {
        match.start(): match[0].upper()
        for match in _ALONE.finditer(text)
        if match[0] not in ("A", "I") or not _is_word(match[0], _AFTER.match(text, match.end()))
    }
    if len(text) < _SAID_WITHIN or "nswer" in text:
        letters |= {match.start(1): match[1].upper() for match in _NAMED.finditer(text) if match[1].islower()}
    return [(letter, start) for start, letter in sorted(letters.items())]


def _is_word(letter: str, after: re.Match[str] | None) -> bool:
    """Whether an A is an article, or an I a pronoun, by the word after it: "A is right" names an option."""
    known = tables.FUNCTION_WORDS if letter == "A" else _AFTER_I
    return after is not None and after[1] not in known


def lists_letters(text: str) -> bool:
    """Whether a text lists several letters: "A, C and D"."""
    return bool(_LIST.search(text))


def named_letter(reference: str) -> str:
    """The letter of a reference that is an option's letter, alone or before its words; else nothing."""
    found = _LETTER.fullmatch(reference) or _WHOLE_BEGIN.match(reference)
    return found[1].upper() if found else ""


def _listed(found: list[re.Match[str]], question: str) -> Options:
    letters = [label[label.lastindex or 0].upper() for label in found]
    for start in reversed([n for n, letter in enumerate(letters) if letter == "A"]):
        options: dict[str, str] = {}
        for n in range(start, len(letters)):
            letter = letters[n]
            if ord(letter) - ord("A") != len(options):
                break
            end = found[n + 1].start() if n + 1 < len(found) else len(question)
            line = question[found[n].end() : end].strip().split("\n")[0]
            options[letter] = _LINK.sub("", " ".join(line.split()))
        if len(options) > 1 and all(options.values()):
            return Options(question[: found[start].start()], options)
    return Options(question, {})


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip(".").split())
