"""The options that a question lists, and the letters that name them in other texts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from bert_judge.reading import tables

_LABEL = re.compile(r"(?<!\S)\(?(?:([A-J])[).:]|([a-j])\))(?=\s)")
_INDENT = re.compile(r"^[ \t]*", re.MULTILINE)
_LINK = re.compile(r"(?: (?:or|and)|[,;])+$")
_LETTER = re.compile(r"\s*(?:(?:option|answer|choice)\s+)?\(?([A-J])[).:]?\s*", re.IGNORECASE)
_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff]"  # a letter or digit of a script with spaces between words
_ALONE = re.compile(  # for speed the letter comes first, then what stands before it
    rf"[A-Ja-j](?!{_LATIN})(?:"
    rf"(?<=[A-J])(?<!{_LATIN}.)(?<!\\.)(?<![A-Za-z]'.)(?!['-]\w|\\|\s*[=^+~]| [*/<>] |\.\w|[#-](?!\w))"
    r"|(?<=\([a-j])(?=\))|(?<=>[a-j])(?=</)|(?<=[Oo]ption [a-j])(?!\w))"
)
_NAMED = re.compile(  # a small letter that is stated as the answer
    r"\b(?:(?:answer|option|choice)(?: is|:| would be)?|go(?:ing)? (?:with|for)|choose|chose|pick|select(?:ed)?|say"
    r"|it(?:'s| is))[ *_]*\s+[*_(]{0,3}([b-j]|a(?=[)*_.]|\W*$))(?![\w'])(?!-\w)",
    re.IGNORECASE,
)
_ONLY = re.compile(r"[\W_]*([a-j])[\W_]*")
_AND = r"[,;/&+|•*-]|\b(?:and|or)\b"
_LIST = re.compile(rf"(?<![\w'])[A-J](?:\s*(?:{_AND})(?:\s|{_AND})*[A-J](?![\w']))+")  # "A, C and D"
_AFTER = re.compile(r" ([a-z]+)")
_NAMED_WITHIN = 2_000  # characters; longer texts are searched only if they say "answer"
_AFTER_I = frozenset(("is", "and", "or"))
_LETTER_FIRST = re.compile(r"\s*\(([A-J])\)\s")
_WITH_TEXT = re.compile(r"\s*\(?([A-J])[).:]\s+(.+)", re.DOTALL)


def name_option(reference: str, question: str | None) -> str:
    """A reference that is the letter or the text of an option of the question, as both: "(B) iron".

    Any other reference is returned unchanged, as is every reference of a question without options.
    """
    options = split_options(question).options if question else {}
    if not options:
        return reference
    letter, with_text = _LETTER.fullmatch(reference), _WITH_TEXT.fullmatch(reference)
    if letter:
        named = letter[1].upper()
    elif with_text and _plain(options.get(with_text[1], "")) == _plain(with_text[2]):
        named = with_text[1]
    else:
        named = next((option for option, text in options.items() if _plain(text) == _plain(reference)), "")
    return f"({named}) {options[named]}" if named in options else reference


class SplitQuestion(NamedTuple):
    """The text of a question before its options, and the texts of its options by letter (empty where it lists none)."""

    stem: str
    options: dict[str, str]


@lru_cache(maxsize=4_096)
def split_options(question: str) -> SplitQuestion:
    """A question and the options that it lists: "(A) iron (B) lead", "A. iron", on one line or several.

    Letters run from A without a gap, over two options or more; else there are no options. Of several lists the last one
    counts, and one of capital letters at the starts of lines before all others.
    """
    labels = list(_LABEL.finditer(question))
    capital = [label for label in labels if label[1]]
    lines = {line.end() for line in _INDENT.finditer(question)}
    leading = [label for label in capital if label.start() in lines]
    # An option may have parts with letters of their own: "(A) (a) iron, (b) lead".
    splits = (_split_at(candidates, question) for candidates in (leading, capital, labels))
    return next((split for split in splits if split.options), SplitQuestion(question, {}))


def letters_in(text: str) -> list[tuple[str, int]]:
    """The letters of a text that can name options, in upper case, and their places; no articles or pronouns."""
    only = _ONLY.fullmatch(text)
    if only:
        return [(only[1].upper(), only.start(1))]
    letters = {
        match.start(): match[0].upper()
        for match in _ALONE.finditer(text)
        if match[0] not in ("A", "I") or not _is_word(match[0], _AFTER.match(text, match.end()))
    }
    if len(text) < _NAMED_WITHIN or "nswer" in text:
        letters |= {match.start(1): match[1].upper() for match in _NAMED.finditer(text) if match[1].islower()}
    return [(letter, start) for start, letter in sorted(letters.items())]


def _is_word(letter: str, after: re.Match[str] | None) -> bool:
    """Whether an A is an article, or an I a pronoun, by the word after it: "A is right" names an option."""
    after_option = tables.FUNCTION_WORDS if letter == "A" else _AFTER_I
    return after is not None and after[1] not in after_option


def lists_letters(text: str) -> bool:
    """Whether a text lists several letters: "A, C and D"."""
    return bool(_LIST.search(text))


def named_letter(reference: str) -> str:
    """The letter of a reference that is an option's letter, alone or before its words; else nothing."""
    match = _LETTER.fullmatch(reference) or _LETTER_FIRST.match(reference)
    return match[1].upper() if match else ""


def _split_at(labels: list[re.Match[str]], question: str) -> SplitQuestion:
    letters = [label[label.lastindex or 0].upper() for label in labels]
    for start in reversed([n for n, letter in enumerate(letters) if letter == "A"]):
        options: dict[str, str] = {}
        for n in range(start, len(letters)):
            letter = letters[n]
            if ord(letter) - ord("A") != len(options):
                break
            end = labels[n + 1].start() if n + 1 < len(labels) else len(question)
            line = question[labels[n].end() : end].strip().split("\n")[0]
            options[letter] = _LINK.sub("", " ".join(line.split()))
        if len(options) > 1 and all(options.values()):
            return SplitQuestion(question[: labels[start].start()], options)
    return SplitQuestion(question, {})


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip(".").split())
