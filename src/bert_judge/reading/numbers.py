"""Numbers in digits, in words, as fractions, ordinals and Roman numerals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from math import inf

from bert_judge.reading import tables
from bert_judge.reading.tables import NO_UNIT, Unit
from bert_judge.reading.words import ERAS, MINUS, NUMBER, NUMERAL, ROMAN, Amount, Recognised, Word, gap_before

_ORDINAL, _ROMAN_NUMERAL = Unit(notation="ordinal"), Unit(notation="Roman")
_ORDINAL_ENDINGS = frozenset("st nd rd th er re eme º ª".split())  # 1st, 1er, 2ème, 1º
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_MOST_HAN = 15  # characters
_LARGEST = 1e30  # above this a number is not sensible
_GAPS = frozenset((" ", "-", ""))
_POWER = re.compile(r" ?(?:[x×*·⋅]|\\times|\\cdot) ?10|[eE](?=[+-]?\d)|(?<=10)(?=\^|\*\*|[⁻⁰¹²³⁴-⁹])")


def number_at(tokens: Sequence[Word], i: int, text: str) -> Recognised[Amount] | None:
    """The number that begins with token `i`, with "minus", "negative" or an era before it, or an era after it."""
    form = tokens[i].content
    if form.key in MINUS or form.text in ERAS:
        return _after_word(tokens, i, text)
    number: tuple[int, Amount] | None = None
    if form.roles & NUMBER:
        number = _in_digits(tokens, i, text)
    elif form.roles & NUMERAL:
        number = _in_words(tokens, i, text)
    elif form.roles & ROMAN:
        digits = [_ROMAN_DIGITS[letter] for letter in form.text]
        pairs = zip(digits, [*digits[1:], 0], strict=True)
        number = i + 1, Amount(sum(-one if one < after else one for one, after in pairs), unit=_ROMAN_NUMERAL)
    if not number:
        return None
    end, amount = number
    if gap_before(tokens, end, text) == " " and amount.unit == NO_UNIT and amount.step == 1:
        era = ERAS.get(tokens[end].content.text)
        end, amount = (end + 1, amount._replace(unit=era)) if era else (end, amount)
    return Recognised(end, tokens[i].start, tokens[end - 1].end, amount)


def _after_word(tokens: Sequence[Word], i: int, text: str) -> Recognised[Amount] | None:
    """The number after "minus" or its like ("minus five", but not "10 minus 5"), or after its era ("AD 79")."""
    if gap_before(tokens, i + 1, text) != " " or tokens[i + 1].content.text in ERAS or tokens[i + 1].key in MINUS:
        return None
    if i and tokens[i - 1].content.roles & (NUMBER | NUMERAL) and gap_before(tokens, i, text) == " ":
        return None
    number = number_at(tokens, i + 1, text)
    if number is None or number.content.unit != NO_UNIT:
        return None
    era = ERAS.get(tokens[i].content.text)
    amount = number.content._replace(unit=era) if era else number.content._replace(number=-number.content.number)
    return number._replace(start=tokens[i].start, content=amount)


def _in_digits(tokens: Sequence[Word], i: int, text: str) -> tuple[int, Amount] | None:
    amount = parse(tokens[i].content.text)
    if amount is None or i + 1 == len(tokens):
        return amount and (i + 1, amount)
    after = tokens[i + 1].content
    gap = gap_before(tokens, i + 1, text)
    if not gap and amount.step == 1 and (after.key in _ORDINAL_ENDINGS or after.text in _ORDINAL_ENDINGS):
        return i + 2, amount._replace(unit=_ORDINAL)
    if not gap and after.text in tables.SUFFIXES:
        return i + 2, scaled(amount, tables.SUFFIXES[after.text])
    if gap == " " and "/" in after.text and amount.step == 1 and after.roles & NUMBER:
        share = parse(after.text)  # 1 1/2
        if share and 0 < share.number < 1:
            return i + 2, Amount(amount.number + share.number, 0, 3)
    if after.roles & NUMERAL or after.key in tables.JOINERS:
        return _in_words(tokens, i, text, amount)
    return i + 1, amount


@lru_cache(maxsize=16_384)
def parse(written: str) -> Amount | None:
    """A number in digits, `step` 0 for a fraction; None where it is too large."""
    sign, digits = (-1, written[1:].lstrip()) if written[0] == "-" else (1, written)
    if "/" in digits or "frac" in digits:
        above, below = re.findall(r"\d+" if "/" in digits or "{" in digits else r"\d", digits)
        return _checked(sign * int(above) / int(below), 0, 3)
    vulgar = None if digits[-1].isdecimal() or digits[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" else unicodedata.numeric(digits[-1], None)
    if vulgar is not None:  # ½, 1½
        whole = parse(digits[:-1].rstrip()) if len(digits) > 1 else None
        return _checked(sign * ((whole.number if whole else 0) + vulgar), 0, 3)
    plain, exponent = digits, 0
    if power := _POWER.search(digits):  # 1.5e6; nothing stands before the power of 10^6
        plain, written_power = digits[: power.start()] if power[0] else "1", digits[power.end() :]
        signs = "".join(
            str(unicodedata.digit(c)) if c.isdigit() else "-" if c in "-\u207b" else "" for c in written_power
        )
        exponent = int(signs) if signs.strip("-") else 1
    plain = _without_separators(plain)
    if len(plain) > 300 or abs(exponent) > 300:
        return None
    figures = len(plain.replace(".", "").lstrip("0")) or 1
    return _checked(sign * float(f"{plain}e{exponent}"), 10.0 ** (exponent - len(plain.partition(".")[2])), figures)


def _without_separators(written: str) -> str:
    """Digits with a decimal point and without thousands separators.

    A single comma is a decimal one unless three digits follow it; of a comma and a point the last one is decimal.
    """
    plain = written.replace(" ", "").replace("'", "")
    commas, points = plain.count(","), plain.count(".")
    if commas == 1 and not points and (plain.startswith("0,") or len(plain.partition(",")[2]) != 3):
        return plain.replace(",", ".")
    if points > 1 or (points and commas == 1 and plain.index(".") < plain.index(",")):
        return plain.replace(".", "").replace(",", ".")
    return plain.replace(",", "")


def _checked(number: float, step: float, figures: int) -> Amount | None:
    return Amount(number, step, figures) if abs(number) < _LARGEST else None


def scaled(amount: Amount, scale: float) -> Amount:
    """An amount times a scale: 1.5 million."""
    return amount._replace(number=amount.number * scale, step=amount.step * scale)


def _in_words(tokens: Sequence[Word], i: int, text: str, first: Amount | None = None) -> tuple[int, Amount] | None:
    """The number in words from token `i` on, or after the number in digits there ("1.5 million", "2 and a half")."""
    if tokens[i].content.text[0] in tables.HAN_NUMERALS:
        han = _han(tokens[i].content.text)
        return han and (i + 1, han)
    cardinal = _cardinal(tokens, i, text, first)
    if cardinal is None:
        return None
    end, amount = cardinal
    if end == i:
        return _half(tokens, i, text) if tables.SHARES.get(tokens[i].key) == 2 else None
    with_share = _with_share(tokens, end, text, amount)
    if with_share is None:
        return end, amount
    end, amount = with_share
    if gap_before(tokens, end, text) in _GAPS:  # one and a half million
        length, role, value = _numeral(tokens, end)
        if role in ("scale", "after"):
            return end + length, Amount(amount.number * value, value / 10, 2)
    return end, amount


def _cardinal(tokens: Sequence[Word], i: int, text: str, first: Amount | None) -> tuple[int, Amount] | None:
    """The number that the words from token `i` on add up to, and the token after them (`i` where there are none).

    "two million three hundred and five": `total` is what is complete (2,000,000), `part` the number below the next
    scale word (305). A word only continues the number if its value is below `room`: 10 after tens, 100 after hundreds,
    1,000 after a thousand, so that "twenty twenty" and "nineteen eighty" are two numbers each. None if it is too large.
    """
    total, part, room = 0.0, first.number if first else None, 0.0 if first else inf
    step, unit, end = first.step if first else 1.0, NO_UNIT, i + bool(first)
    place = end
    while place == i or gap_before(tokens, place, text) in _GAPS:
        if tokens[place].key in tables.JOINERS and place == end and room >= 100 and place > i:
            place += 1
            continue
        length, role, value = _numeral(tokens, place)
        if role in ("scale", "after") and place == end and (part or total or role == "scale"):
            if part is None and total:
                total *= value  # five thousand million
            elif value < 1000:
                part, room = (part or 1) * value, value
            else:
                total, part, room = total + (1 if part is None else part) * value, None, value
            step *= value
        elif role in ("unit", "ten", "ordinal") and value < room and (value or place == i):
            part, room = (part or 0) + value, 10 if role == "ten" else 0
            step, unit = 1.0, _ORDINAL if role == "ordinal" else unit
        else:
            break
        if total + (part or 0) >= _LARGEST:
            return None
        place += length
        end = place
    number = total + (part or 0)
    return end, Amount(number, step, first.figures if first else len(f"{number / step:.0f}"), unit)


def _half(tokens: Sequence[Word], i: int, text: str) -> tuple[int, Amount]:
    """A half alone, or of a scale: "half a dozen", "half a million"."""
    place = i + 1
    if place < len(tokens) and tokens[place].key in tables.ARTICLES:
        place += 1
    if place < len(tokens) and text[tokens[i].end : tokens[place].start].strip(" -") in ("", "a", "an"):
        length, role, value = _numeral(tokens, place)
        if role == "scale":
            return place + length, Amount(value / 2, value / 20, 2)
    return i + 1, Amount(0.5, 0, 3)


def _numeral(tokens: Sequence[Word], i: int) -> tuple[int, str, int]:
    """The longest number word that begins with token `i`: how many tokens it has, its role and value."""
    key = tokens[i].key
    longest = (1, *tables.NUMERALS.get(key, ("", 0)))
    if key in tables.NUMERAL_STARTS:
        for length, token in enumerate(tokens[i + 1 : i + tables.LONGEST_NUMERAL], 2):
            key = f"{key} {token.key}"
            if key in tables.NUMERALS:
                longest = (length, *tables.NUMERALS[key])
    return longest


def _with_share(tokens: Sequence[Word], end: int, text: str, count: Amount) -> tuple[int, Amount] | None:
    """A number and the fraction after it: "three quarters", "two and a half", "two and three quarters"."""
    if count.unit != NO_UNIT or count.step < 1:
        return None
    first, second, third = (
        tokens[place].key if gap_before(tokens, place, text) in _GAPS else "" for place in range(end, end + 3)
    )
    if count.step > 1:  # a dozen and a half
        half = first in tables.JOINERS and second in tables.ARTICLES and tables.SHARES.get(third) == 2
        return (end + 3, Amount(count.number + count.step / 2, count.step / 2, 3)) if half else None
    below = tables.SHARES.get(first)
    ordinal = first in tables.NUMERALS and count.number != 1  # "96 fourth-graders" are not 24
    if below and not ordinal and 0 < count.number < 1000:
        return end + 1, Amount(count.number / below, 0, 3)
    if first in tables.JOINERS:
        above = 1 if second in tables.ARTICLES else tables.NUMERALS.get(second, ("", 0))[1]
        below = tables.SHARES.get(third, 0)
        if 0 < above < below:
            return end + 3, Amount(count.number + above / below, 0, 3)
    return None


def _han(text: str) -> Amount | None:
    """A number in Han characters: 五十二 is 52."""
    if len(text) > _MOST_HAN:
        return None
    total = part = digit = 0
    for character in text:
        if character in tables.HAN["units"]:
            digit = digit * 10 + tables.HAN["units"][character]
        elif character in tables.HAN["scales"]:
            part, digit = part + (digit or 1) * tables.HAN["scales"][character], 0
        else:
            total, part, digit = total + (part + digit) * tables.HAN["myriads"].get(character, 1), 0, 0
    number = total + part + digit
    return Amount(float(number), 1.0, len(str(number)))
