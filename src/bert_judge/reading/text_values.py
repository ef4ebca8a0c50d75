"""Reading one text alone: which values it states and where, and the options that a question lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from bert_judge.reading import tables, words
from bert_judge.reading.dates import date_at, time_at
from bert_judge.reading.quantities import amount_at
from bert_judge.reading.tables import NO_UNIT
from bert_judge.reading.words import Amount, Moment, OptionLetter, Value, Word, WordForm

# The recogniser of each kind of value, with the roles of which a token needs one. Of what they recognise at a place the
# longest counts, and the first of equals.
Recogniser = Callable[[Sequence[Word], int, str], words.Recognised[Any] | None]
_RECOGNISERS: tuple[tuple[int, Recogniser], ...] = (
    (words.DATE | words.MONTH, date_at),
    (words.TIME, time_at),
    (words.NUMBER | words.NUMERAL | words.ROMAN | words.CURRENCY, amount_at),
)

_LIST_LABEL = re.compile(
    r"(?<![^\s,;:])(?:\(?(?:([A-Za-z])|([ivx]{1,4})|(\d\d?))\)|(?<![^\n])[ \t]*(?:(\d\d?)|([A-Z]))\.)(?=\s)"
)
_SECOND_LABEL = re.compile(r"\)(?<=[Bbi\d]\))\s|\n[ \t]*(?:\d\d?|[A-Z])\.\s")  # quick to look for; every list has it
_LATEX = re.compile(  # commands for the looks of a text are not words; a fraction stays
    r"\\[dtc]?frac(?:\{\d+\}\{\d+\}|\d\d)|\\(?:math|text)[a-z]*\b|\\(?:left|right|boxed|fbox|quad|rm|bf|it|displaystyle)\b"
    r"|\\[ ,;:!%$()\[\]{}]|[{}~]"
)
_FORMULA = re.compile(r"(\${1,2})(?=\S)([^$\n]{0,400}?)(?<=\S)(\${1,2})(?!\d)")  # but not amounts of dollars
_SHORT = 300  # characters of a text that is likely to come again: a question, a reference
_ROMAN_LABELS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LONG_ACRONYM = 3  # letters; shorter ones stand for words by chance
_LEAST_JOINED = 6  # letters of a word that may be two words in one


def _blank_command(match: re.Match[str]) -> str:
    """Spaces for a command, as many as it has characters; of "\\%" and "\\$" the sign stays."""
    if "frac" in match[0]:
        return match[0]
    return f" {match[0][1]}" if match[0] in (r"\%", r"\$") else " " * len(match[0])


class TextValues:
    """The values that a text states, in order and without overlaps.

    Function words are left out, unless the text has no other words. Everything but `values` is computed when needed:
    of most texts only a part is ever asked for.
    """

    def __init__(self, text: str) -> None:
        text = words.fold(text)
        if "$" in text:
            text = _FORMULA.sub(lambda match: f"{' ' * len(match[1])}{match[2]}{' ' * len(match[3])}", text)
        self.text = _LATEX.sub(_blank_command, text) if "\\" in text else text
        self.tokens = words.split_words(self.text)
        self.values: tuple[words.AnyValue, ...] = tuple(_values(self.tokens, self.text) or self.tokens)
        self.keys: frozenset[Hashable] = frozenset([value[0] for value in self.values])

    @cached_property
    def _forms(self) -> list[WordForm]:
        return [value[3] for value in self.values if type(value[3]) is WordForm]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words without their inflection."""
        return frozenset([form[1] for form in self._forms])

    @cached_property
    def comparable(self) -> dict[Hashable, Amount | Moment]:
        """The numbers, quantities, dates and times, by their keys."""
        if len(self._forms) == len(self.values):
            return {}
        return {value.key: value.content for value in self.values if isinstance(value.content, Amount | Moment)}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The keys of its words, in order."""
        return tuple([form[0] for form in self._forms])

    def spelled_out_at(self, acronym: str) -> int:
        """The index of the first of the words in a row whose initials are an acronym; -1 where there are none.

        A short acronym stands for words with capitals only.
        """
        short = len(acronym) < _LONG_ACRONYM
        return self._initials.find(acronym.upper()) if short else self._initials.lower().find(acronym)

    @cached_property
    def _initials(self) -> str:
        return "".join([self.text[value.start] for value in self.values if type(value.content) is WordForm])

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Its words in capitals, of two letters and more."""
        return frozenset([form.key for form in self._forms if form[2]])

    @cached_property
    def long_words(self) -> frozenset[str]:
        """Its words that are long enough to be two in one: "seawater"."""
        return frozenset([form[0] for form in self._forms if len(form[0]) >= _LEAST_JOINED])

    @cached_property
    def joined_pairs(self) -> dict[str, tuple[str, str]]:
        """Two words in a row, by the one word that they would be together: "seawater" for "sea water"."""
        return {one + two: (one, two) for one, two in pairwise(self.words)}

    @cached_property
    def letters(self) -> tuple[Value, ...]:
        """The letters that can name options."""
        letters = [(OptionLetter(letter), start) for letter, start in _letters_in(self.text)]
        return tuple(Value(letter, start, start + 1, letter) for letter, start in letters)


def read(text: str) -> TextValues:
    """The values of a text. They are cached, those of short texts for longer."""
    return _read_short(text) if len(text) <= _SHORT else _read_long(text)


_read_short = lru_cache(maxsize=8_192)(TextValues)
_read_long = lru_cache(maxsize=64)(TextValues)


def _values(tokens: Sequence[Word], text: str) -> list[words.AnyValue]:
    """The values among the tokens, without function words."""
    if len(tokens) == 1 and (number := tables.NUMERALS_ALONE.get(tokens[0].key)):
        return [Value(str(number), tokens[0].start, tokens[0].end, Amount(float(number), figures=len(str(number))))]
    labels = _labels(text)
    if labels:
        tokens = [token for token in tokens if token.start not in labels]
    all_roles = 0
    for token in tokens:
        all_roles |= token[3].roles
    if not all_roles & words.STARTS:  # most texts: words only
        return [token for token in tokens if not token[3].roles & words.STOP]
    return _recognised(tokens, text, [recognise for roles, recognise in _RECOGNISERS if all_roles & roles])


def _recognised(tokens: Sequence[Word], text: str, recognisers: Sequence[Recogniser]) -> list[words.AnyValue]:
    """The values among tokens some of which begin a number or a date."""
    values: list[words.AnyValue] = []
    place, count = 0, len(tokens)
    while place < count:
        token = tokens[place]
        roles = token[3].roles
        place += 1
        if roles & words.STARTS:
            longest = None
            for recognise in recognisers:
                value = recognise(tokens, place - 1, text)
                if value and (longest is None or value.end > longest.end):
                    longest = value
            if longest:
                values.append(Value(_key(longest, text), longest.start, longest.end, longest.content))
                place = longest.next
                continue
        if not roles & words.STOP:
            values.append(token)
    return values


def _key(value: words.Recognised[Any], text: str) -> Hashable:
    """The key that equal values share: the number with its unit, or the parts of a date."""
    content = value.content
    if isinstance(content, Moment):
        return content
    number = f"{content.number:.12g}" if content.figures <= words.EXACT else text[value.start : value.end]
    return number if content.unit == NO_UNIT else (number, content.unit)


def _labels(text: str) -> frozenset[int]:
    """The places of the labels of a list's parts: "a) … b) …", "(i) … (ii) …", "1. …" at the starts of lines.

    Labels of one kind are a list if they count from 1 without a gap, and at least to 2.
    """
    if not _SECOND_LABEL.search(text):
        return frozenset()
    runs: dict[int, list[int]] = {}
    for match in _LIST_LABEL.finditer(text):
        kind, label = match.lastindex or 0, match[match.lastindex or 0]
        number = int(label) if label.isdecimal() else ord(label.lower()) - 96 if kind != 2 else 0
        if kind == 2 or (label == "i" and not runs.get(1)):  # an "i" before any other letter is a Roman numeral
            kind, number = 2, _ROMAN_LABELS.index(label) + 1 if label in _ROMAN_LABELS else 0
        run = runs.setdefault(kind, [])
        if number == len(run) + 1:
            run.append(match.start(match.lastindex or 0))
    return frozenset(start for run in runs.values() if len(run) > 1 for start in run)


# Options

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
_WORD_AFTER = re.compile(r" ([a-z]+)")
_NAMED_WITHIN = 2_000  # characters; longer texts are searched only if they say "answer"
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


def _letters_in(text: str) -> list[tuple[str, int]]:
    """The letters of a text that can name options, in upper case, and their places; no articles or pronouns."""
    only = _ONLY.fullmatch(text)
    if only:
        return [(only[1].upper(), only.start(1))]
    letters = {
        match.start(): match[0].upper()
        for match in _ALONE.finditer(text)
        if match[0] not in ("A", "I") or not _is_word(match[0], _WORD_AFTER.match(text, match.end()))
    }
    if len(text) < _NAMED_WITHIN or "nswer" in text:
        letters |= {match.start(1): match[1].upper() for match in _NAMED.finditer(text) if match[1].islower()}
    return [(letter, start) for start, letter in sorted(letters.items())]


def _is_word(letter: str, after: re.Match[str] | None) -> bool:
    """Whether an A is an article, or an I a pronoun, by the word after it: "A is right" names an option."""
    after_option = tables.FUNCTION_WORDS if letter == "A" else ("is", "and", "or")
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
