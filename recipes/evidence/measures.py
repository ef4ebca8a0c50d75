"""The table of units: what they are called and how large they are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any

import pint
from babel import Locale
from babel.core import get_global
from spelling import ALL_LANGUAGES, FREQUENT, frequency, is_english, key, rows, symbol
from vocabulary import FUNCTION_WORDS

PREFIXES = {
    "f": ("femto", -15), "p": ("pico", -12), "n": ("nano", -9), "u": ("micro", -6), "m": ("milli", -3),
    "c": ("centi", -2), "d": ("deci", -1), "h": ("hecto", 2), "k": ("kilo", 3), "M": ("mega", 6),
    "G": ("giga", 9), "T": ("tera", 12), "P": ("peta", 15),
}  # fmt: skip
BASES = {"meter": "m", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd"}
OWN = ["bit", "rad", "dB", "px"]
PINT = pint.UnitRegistry(non_int_type=Fraction, autoconvert_offset_to_baseunit=True)
# CLDR's names of units: those whose last part Pint does not know, or knows as another unit.
CLDR = {
    "temperature-celsius": "degC", "temperature-fahrenheit": "degF", "mass-tonne": "metric_ton",
    "area-square-meter": "meter**2", "area-square-kilometer": "kilometer**2", "area-square-centimeter": "centimeter**2",
    "area-square-mile": "mile**2", "area-square-foot": "foot**2", "volume-cubic-meter": "meter**3",
    "volume-cubic-centimeter": "centimeter**3", "volume-cubic-kilometer": "kilometer**3",
    "speed-kilometer-per-hour": "kilometer/hour", "speed-mile-per-hour": "mile/hour",
    "speed-meter-per-second": "meter/second", "length-light-year": "light_year",
    "length-nautical-mile": "nautical_mile", "length-astronomical-unit": "astronomical_unit",
    "energy-kilowatt-hour": "kilowatt_hour", "volume-fluid-ounce": "fluid_ounce", "energy-foodcalorie": "kilocalorie",
}  # fmt: skip
DIMENSIONS = set(
    "length mass duration area volume speed temperature energy power pressure force electric frequency digital "
    "light".split()
)
# Names that CLDR lacks, or has for the short ton only, and those that count other things, too: cows, cards, lines.
NATIVE = {"ar": {"طن": "metric_ton"}, "it": {"tonnellata": "metric_ton", "tonnellate": "metric_ton"},
          "ko": {"톤": "metric_ton"},
          "zh": {"吨": "metric_ton", "日": "day", "秒": "second", "千克": "kilogram", "年": "year", "岁": "year"},
          "ja": {"秒": "second", "分": "minute", "キロ": "kilogram", "歳": "year", "年": "year"}}  # fmt: skip
OTHER_COUNTS = set("牛码节巴卡줄바")
MONEY_SPOKEN = ("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "RUB", "INR", "TRY", "PLN", "SEK", "BRL", "KRW")

# Symbols that people write in any letter case; others mean something else then: GPA, UK, Ns, Mg.
ANY_CASE = set(
    "km cm kg ml lb lbs oz ft yd yds mi mph kph kmh kmph kts hz khz mhz ghz kw kwh mwh gwh kj kpa hpa psi atm "
    "bar mbar kcal hp rpm bpm sec secs min mins hr hrs wk wks yr yrs bps kbps mbps gbps ppm ppb ev kev gev kv db "
    "mah ah sqft sqm sqkm sqmi tbsp tsp gal gals cc btu degc degf mmhg dpi mol mmol pct px".split()
)


class Units:
    """Units and their spellings, as they are collected: the first meaning of a spelling stays."""

    def __init__(self) -> None:
        self.units: dict[str, list[Any]] = {}
        self.names: dict[str, str] = {}
        self.symbols: dict[str, str] = {}
        self.ambiguous: dict[str, str] = {}
        self.others: dict[str, list[str]] = {}

    def add(self, unit: str, names: list[str], symbols: list[str]) -> None:
        """Add a unit's spellings; a spelling with a question mark is a common word, too."""
        for table, spellings, form in ((self.names, names, key), (self.symbols, symbols, symbol)):
            for spelling in spellings:
                chosen = self.ambiguous if spelling.startswith("?") else table
                known = chosen.setdefault(form(spelling.removeprefix("?")), unit)
                if known != unit and unit not in self.others.setdefault(form(spelling), []):
                    self.others[form(spelling)].append(unit)


def number(value: Fraction) -> str:
    """A number as text that `Fraction` reads: exact where that is short, else to the precision of a float."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    if Fraction(decimal) == value:
        text = f"{decimal.normalize():f}"
        return text if len(text) < 16 else str(decimal.normalize())
    return str(value) if len(str(value)) < 16 else repr(float(value))


def size(expression: str) -> list[Any]:
    """Factor, exponents and, if there is one, offset of a unit that Pint knows."""
    zero, one = (PINT.Quantity(Fraction(count), expression).to_base_units() for count in (0, 1))
    offset, factor = Fraction(zero.magnitude), Fraction(one.magnitude) - Fraction(zero.magnitude)
    if offset:  # Pint holds these as floats
        offset, factor = offset.limit_denominator(1_000), factor.limit_denominator(1_000)
    exponents = {BASES[base]: int(power) for base, power in one.unit_items() if base in BASES and power}
    return [number(factor), exponents, number(offset)] if offset else [number(factor), exponents]


def scaled(entry: list[Any], power: int) -> list[Any]:
    """A unit with a prefix of ten to `power`."""
    return [number(Fraction(entry[0]) * Fraction(10) ** power), entry[1]]


def split(fields: str) -> list[str]:
    """What stands between commas."""
    return [field.strip() for field in fields.split(",") if field.strip()]


def plurals(names: str) -> list[str]:
    """The singular and plural of names: "foot/feet", "mile" for "mile/miles"."""
    pairs = [name.partition("/") for name in split(names)]
    return [form for one, _, many in pairs for form in (one, many or (f"{one}s" if one.isascii() else one))]


def listed(units: Units) -> None:
    """The units of units.txt."""
    for row in rows("units.txt"):
        fields = [field or "" for field, _ in zip_longest(row, range(5), fillvalue="")]
        unit, _, definition = fields[0].partition(" = ")
        names, symbols = plurals(fields[1]), split(fields[2])
        entry = defined(definition) if definition else size(unit)
        units.units.setdefault(unit, entry)
        units.add(unit, names, symbols)
        for letter in fields[3].split():
            prefix, power = PREFIXES[letter]
            multiple = f"{prefix}{unit}"
            units.units.setdefault(multiple, scaled(entry, power))
            signs = ["μ", "u"] if letter == "u" else [letter]
            units.add(
                multiple, [prefix + name for name in names], [sign + part for sign in signs for part in symbols[:1]]
            )
        for part in filter(None, fields[4].split(";")):
            spelling, _, meanings = part.partition(":")
            for form in plurals(spelling):
                if form in units.names or form in units.symbols:
                    units.others.setdefault(form, []).extend(meanings.split())


def defined(definition: str) -> list[Any]:
    """A definition of units.txt: "8192 bit", "1 bit s-1", "1/100"."""
    factor, *powers = definition.split()
    parts = (re.fullmatch(r"([a-zA-Z]+)(-?\d+)?", power) for power in powers)
    return [factor, {part[1]: int(part[2] or 1) for part in parts if part}]


def money(units: Units) -> None:
    """Currencies: signs and common names, then all codes in use and their names in English."""
    chosen = [[*row, "", "", ""][:4] for row in rows("money.txt")]
    for code, signs, names, hundredths in chosen:
        units.units[code] = ["1", {code: 1}]
        units.add(code, plurals(names), split(signs))
        if hundredths:
            cents = [cent for cent in plurals(hundredths) if cent != "¢"]
            units.units[f"{code}/100"] = ["1/100", {code: 1}]
            units.add(f"{code}/100", cents, ["¢"] if "¢" in hundredths else [])
    english = Locale.parse("en")
    codes = [row[0] for row in chosen]
    for code in [*codes, *sorted(codes_in_use() - set(codes))]:
        units.units.setdefault(code, ["1", {code: 1}])
        if frequency(code) < FREQUENT:  # ALL, TOP and TRY are words
            units.add(code, [], [code])
        full = [english.currencies.get(code, ""), *english._data["currency_names_plural"].get(code, {}).values()]
        plain = [name for name in full if re.fullmatch(r"[^\W\d_ʻ]+([ -][^\W\d_ʻ]+)*", name)]
        units.add(code, [name for name in plain if key(name) not in units.names and not is_english(key(name))], [])


def codes_in_use() -> set[str]:
    """The codes of all currencies that are legal tender somewhere today."""
    territories = get_global("territory_currencies").values()
    return {code for entries in territories for code, _, until, tender in entries if until is None and tender}


def foreign(units: Units) -> None:
    """Names in other languages, from CLDR; those that mean two things or are words of English are left out."""
    units_of: dict[str, set[str]] = {}
    for language in ["en", "en_GB", *ALL_LANGUAGES]:
        for names in (names_of_units(language, units), NATIVE.get(language, {}).items(), names_of_money(language)):
            for name, unit in names:
                units_of.setdefault(key(name), set()).add(unit)
    for spelling, meanings in units_of.items():
        if len(meanings) == 1 and not is_english(spelling) and spelling not in units.names:
            (unit,) = meanings
            if unit not in units.units:
                units.units[unit] = size(unit)
            units.names[spelling] = unit


def names_of_units(language: str, units: Units) -> Iterator[tuple[str, str]]:
    """The names of a language for our units, in singular and plural."""
    han = language in ("zh", "ja", "ko")  # many units have a name there in the short form only
    for unit, forms in Locale.parse(language)._data["unit_patterns"].items():
        dimension, _, name = unit.partition("-")
        known = CLDR.get(unit, name.replace("-", "_"))
        if dimension not in DIMENSIONS or (known not in units.units and unit not in CLDR):
            continue
        widths = [forms.get(width, {}) for width in (("long", "short") if han else ("long",))]
        patterns = [pattern for width in widths for form, pattern in width.items() if form != "per"]
        for place in filter(None, (re.fullmatch(r"\{0\}\s?(.+)", pattern) for pattern in patterns)):
            if place[1] not in OTHER_COUNTS and not (han and re.search(r"[a-zA-Z°]", place[1])):
                yield place[1], known


def names_of_money(language: str) -> Iterator[tuple[str, str]]:
    """The names of a language for the commonest currencies, in singular and plural; those of English came before."""
    names = Locale.parse(language)._data["currency_names_plural"]
    for code in MONEY_SPOKEN if not language.startswith("en") else ():
        for name in names.get(code, {}).values():
            yield name, code


def short_cyrillic(units: Units) -> None:
    """Russian symbols: км, кг, ч."""
    for unit, forms in Locale.parse("ru")._data["unit_patterns"].items():
        known = CLDR.get(unit, unit.partition("-")[2].replace("-", "_"))
        text = forms.get("short", {}).get("other", "").removeprefix("{0}").strip()
        if known in units.units and known != "year" and re.fullmatch(r"([а-яА-Я]{2,}|[глмтч])\.?", text):
            units.add(known, [], [text.rstrip(".")])


def squared(units: Units) -> None:
    """Signs of one character: ㎞, ㎡."""
    for code in range(0x3371, 0x33E0):
        plain = symbol(unicodedata.normalize("NFKC", chr(code)))
        base, power = re.fullmatch(r"(.*?)([23]?)", plain).groups()
        if unit := units.symbols.get(base):
            composed = f"{unit}**{power}" if power else unit
            units.units.setdefault(composed, size(composed) if power else units.units[unit])
            units.add(composed, [], [chr(code)])


def cases(units: Units) -> None:
    """Symbols in other letter case, "Km" and "khz", where that is no other symbol; kb, mb, gb and tb are bytes."""
    for spelling, unit in list(units.symbols.items()):
        if spelling.lower() in ANY_CASE:
            for variant in (spelling.lower(), spelling.upper(), spelling.capitalize()):
                units.symbols.setdefault(variant, unit)
    for prefix in ("kilo", "mega", "giga", "tera"):
        for spelling in (f"{prefix[0]}b", f"{prefix[0]}b".upper()):
            units.add(f"{prefix}byte", [], [spelling])
            units.others.setdefault(spelling, []).append(f"{prefix[:2]}bibyte")
        for spelling in plurals(f"{prefix}byte"):
            units.others.setdefault(spelling, []).append(f"{prefix[:2]}bibyte")


def set_apart(units: Units) -> None:
    """Move symbols that are function words to the ambiguous ones, and those that are seldom units: 3 pm, 3y, 5 A.

    Names with "per" go, as the reader composes them, and so does "b": in "2b + 3" it is no bit.
    """
    del units.symbols["b"]
    seldom = {"pm", "d", "u", "y", *ascii_uppercase, *(word for word in FUNCTION_WORDS if len(word) > 1)}
    for spelling in units.symbols.keys() & seldom:
        units.ambiguous[spelling] = units.symbols.pop(spelling)
    for name in [name for name in units.names if " per " in name]:
        del units.names[name]


def unit_table() -> dict[str, Any]:
    """The table units.json."""
    units = Units()
    listed(units)
    money(units)
    foreign(units)
    short_cyrillic(units)
    squared(units)
    cases(units)
    set_apart(units)
    return {
        "bases": [*BASES.values(), *OWN], "units": units.units, "names": units.names, "symbols": units.symbols,
        "ambiguous": units.ambiguous, "others": units.others,
    }  # fmt: skip
