"""The tables that values are read with: they are right, small, and a spelling means one thing."""

from __future__ import annotations

import json
import unicodedata
from fractions import Fraction
from importlib.resources import files

import pytest

FOLDER = files("bert_judge.reading").joinpath("tables")
TEXTS = {
    name: FOLDER.joinpath(f"{name}.json").read_text(encoding="utf-8")
    for name in ("units", "numbers", "months", "words")
}
UNITS, NUMBERS, MONTHS, WORDS = (json.loads(text) for text in TEXTS.values())
FUNCTION_WORDS = {word for words in WORDS["function"].values() for word in words}

EQUALITIES = """
1 mile = 1609.344 m, 1 ft = 12 inches, 1 yard = 3 feet, 1 inch = 2.54 cm, 1 nautical mile = 1852 metres,
1 fathom = 6 ft, 1 furlong = 220 yards, 1 km = 1000000 mm, 5 μm = 5 um, 5 μm = 5 microns, 1 nm = 10 Å,
8 furlongs = 1 mi, 1 light year = 9460730472580.8 km, 1 AU = 149597870.7 km,
640 acres = 1 square mile, 100 ha = 1 square kilometre, 1 acre = 43560 square feet, 1 litre = 1000 ml, 1 L = 1 l,
1 gallon = 8 pints, 1 gallon = 3.785411784 litres, 1 cup = 16 tablespoons, 1 tbsp = 3 tsp, 1 cc = 1 mL,
20 imperial fluid ounces = 1 imperial pint, 1 cubic metre = 1000 liters, 1 barrel = 42 gallons,
1 pound = 16 oz, 1 stone = 14 lbs, 1 tonne = 1000 kg, 1 metric ton = 1 t, 1 ton = 2000 lb, 1 kg = 1000 grammes,
1 long ton = 2240 pounds, 1 carat = 200 mg, 1 ounce = 437.5 grains,
1 minute = 60 s, 1 h = 60 min, 1 day = 24 hrs, 1 week = 7 days, 1 fortnight = 2 weeks, 1 year = 12 months,
4 years = 1461 days, 1 decade = 10 years, 1 century = 10 decades, 1 millennium = 1000 yr, 3 millennia = 30 centuries,
1 mph = 1.609344 kmh, 100 kph = 62.1371192237334 mph, 1 knot = 1.852 kph, 60 rpm = 1 Hz,
1 atm = 101325 Pa, 1 bar = 1000 mbar, 760 torr = 1 atm, 1 kWh = 3.6 MJ, 1 kcal = 4184 J, 1 cal = 4.184 joules,
1 MW = 1000000000 mW, 1 mAh = 3.6 coulombs, 1 T = 10000 gauss, 1 newton = 100000 dynes, 1 molar = 1000 mM,
1000 μF = 1 mF, 1 farad = 1000000 uF, 600 μC = 0.6 mC, 60 arcseconds = 1 arcminute, 1 kVA = 1 kW,
1 slug = 14.593902937206 kg,
100 °C = 212 °F, 0 °C = 273.15 K, -40 degrees celsius = -40 degrees fahrenheit, 37 C = 98.6 F, 25 ℃ = 298.15 kelvin,
1 byte = 8 bits, 1 MB = 1000 kB, 1 GiB = 1024 MiB, 1 KiB = 1024 bytes, 1 mb = 1 MB, 1 Mb = 1000 kbit, 1 KB = 8 kb,
50 % = 500 ‰, 1 percent = 10000 ppm, 1 per cent = 1 percentage point,
1 $ = 100 cents, 5 euros = 5 €, 5 EUR = 500 euro cents, 1 £ = 100 pence, 5 yen = 5 ¥, 5 rupees = 5 ₹, 5 won = 5 ₩,
5 rubles = 5 ₽, 5 us dollars = 5 US$, 5 swiss francs = 5 CHF, 5 quid = 5 GBP,
3 kilometros = 3 km, 3 километров = 3 км, 3 公里 = 3 km, 3 stunden = 3 h, 2 heures = 120 min, 1 吨 = 1 tonne,
2 jahre = 2 years, 5 Km = 5 km, 5 KG = 5 kg, 5 khz = 5 kHz, 1 ㎞ = 1 km, 1 ㎡ = 1 square metre
"""


def meaning(spelling: str) -> tuple[Fraction, Fraction, dict[str, int]]:
    """Factor, offset and exponents of the unit that a spelling means."""
    (unit,) = {UNITS[table][spelling] for table in ("names", "symbols", "ambiguous") if spelling in UNITS[table]}
    return entry(unit)


def entry(unit: str) -> tuple[Fraction, Fraction, dict[str, int]]:
    factor, exponents, *offset = UNITS["units"][unit]
    return Fraction(factor), Fraction(*offset), exponents


def told(quantity: str) -> tuple[Fraction, dict[str, int]]:
    """The value of a number with a unit."""
    number, _, spelling = quantity.strip().partition(" ")
    factor, offset, exponents = meaning(spelling)
    return Fraction(number) * factor + offset, exponents


def test_well_known_equalities(subtests: pytest.Subtests) -> None:
    for equality in EQUALITIES.replace("\n", " ").split(", "):
        with subtests.test(equality.strip()):
            left, right = equality.split(" = ")
            (value, exponents), (other, same) = told(left), told(right)
            assert exponents == same
            assert abs(value - other) <= abs(value) / 10**12


def test_what_differs(subtests: pytest.Subtests) -> None:
    for left, right in (("1 mW", "1 MW"), ("1 Mb", "1 MB"), ("1 m", "1 s"), ("1 dollar", "1 euro"), ("1 m", "1 min")):
        with subtests.test(left, right=right):
            assert told(left) != told(right)


def test_every_unit_has_a_size() -> None:
    assert all(entry(unit)[0] > 0 and all(entry(unit)[2].values()) for unit in UNITS["units"])


def test_bases_are_units_or_currencies() -> None:
    bases = {base for _, exponents, *_ in UNITS["units"].values() for base in exponents}
    assert set(UNITS["bases"]) <= bases
    assert all(len(base) == 3 and base.isupper() for base in bases.difference(UNITS["bases"]))


def test_spellings_mean_units_that_are_there() -> None:
    spellings = [UNITS[table] for table in ("names", "symbols", "ambiguous")]
    assert {unit for table in spellings for unit in table.values()} <= UNITS["units"].keys()
    for spelling, units in UNITS["others"].items():
        assert set(units) <= UNITS["units"].keys()
        assert any(spelling in table and table[spelling] not in units for table in spellings), spelling


def test_no_spelling_means_two_things(subtests: pytest.Subtests) -> None:
    months = [MONTHS[table] for table in ("names", "capitalised", "in_dates")]
    numbers = [NUMBERS[role] for role in ("units", "tens", "scales", "scales_after_number", "ordinals")]
    units = [UNITS[table] for table in ("names", "ambiguous")]
    suffixes = [NUMBERS[role] for role in ("suffixes", "money_suffixes")]
    for tables in (months, numbers, units, suffixes, [UNITS["symbols"], UNITS["ambiguous"]]):
        spellings = [spelling for table in tables for spelling in table]
        assert len(spellings) == len(set(spellings))
    for text in TEXTS.values():
        with subtests.test(text[:40]):
            json.loads(text, object_pairs_hook=without_repeats)
    for spelling in UNITS["names"].keys() & UNITS["symbols"].keys():
        assert UNITS["names"][spelling] == UNITS["symbols"][spelling], spelling


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len(pairs) == len(dict(pairs)), pairs
    return dict(pairs)


def test_function_words_are_no_values() -> None:
    values = {word for role in ("units", "tens", "scales", "scales_after_number", "ordinals") for word in NUMBERS[role]}
    months = MONTHS["names"].keys() | MONTHS["in_dates"].keys()
    assert not FUNCTION_WORDS & (values | months)
    assert not {symbol for symbol in FUNCTION_WORDS & UNITS["symbols"].keys() if len(symbol) > 1}
    assert not {"degree", "degrees", "°"} & (UNITS["names"].keys() | UNITS["symbols"].keys())


def test_spellings_are_keys(subtests: pytest.Subtests) -> None:
    """Words are written as they are compared: without case, accents and hyphens."""
    tables = {
        "unit names": UNITS["names"],
        **{role: NUMBERS[role] for role in ("units", "tens", "scales", "scales_after_number", "ordinals")},
        **{f"months: {name}": MONTHS[name] for name in ("names", "capitalised", "in_dates")},
    }
    for name, table in tables.items():
        with subtests.test(name):
            for spelling in table:
                assert spelling == " ".join(spelling.casefold().replace("-", " ").split())
                assert not any(map(unicodedata.combining, unicodedata.normalize("NFKD", spelling))), spelling


def test_numbers_of_many_languages(subtests: pytest.Subtests) -> None:
    rows = """
    zero 0, nineteen 19, acht 8, vingt 20, veinte 20, восемь 8, zweiundfunfzig 52, vingt et un 21,
    quatre vingt dix neuf 99, treinta y dos 32, vierundvierzig 44,
    tjugotre 23, nove 9, septante 70, yirmi bir 21, ثلاثة 3, dwadziescia dwa 22
    """
    for row in rows.replace("\n", " ").split(","):
        word, _, number = row.strip().rpartition(" ")
        with subtests.test(word):
            assert NUMBERS["units"][word] == int(number)
    assert not {*"once due elf sex un une una een bir null seize".split()} & NUMBERS["units"].keys()
    scales = {"million": 10**6, "milliarden": 10**9, "lakh": 10**5, "billones": 10**12}
    assert NUMBERS["scales"] | scales == NUMBERS["scales"]
    assert NUMBERS["characters"]["myriads"]["億"] == 10**8


def test_months() -> None:
    assert set(MONTHS["names"].values()) == set(MONTHS["capitalised"].values()) == set(range(1, 13))
    names = {"january": 1, "sept": 9, "janvier": 1, "enero": 1, "мая": 5, "styczen": 1, "ekim": 10}
    assert MONTHS["names"] | names == MONTHS["names"]
    assert MONTHS["capitalised"] | {"may": 5, "march": 3, "august": 8, "dec": 12} == MONTHS["capitalised"]
    assert MONTHS["in_dates"] | {"mars": 3, "mai": 5, "dez": 12} == MONTHS["in_dates"]
    assert not {"set", "ago", "out", "pro", "gen"} & (MONTHS["names"].keys() | MONTHS["in_dates"].keys())
    assert MONTHS["marks"]["月"] == "month"


def test_words() -> None:
    assert {"the", "of", "is", "not", "there", "percent", "answer", "s", "th"} <= FUNCTION_WORDS
    assert not {"before", "after", "without", "all", "none", "both", "one"} & FUNCTION_WORDS
    singulars = set(WORDS["singulars"])
    assert {"news", "physics", "series", "lens", "species", "paris", "basis"} <= singulars
    assert not {"apples", "boxes", "cities", "wolves", "potatoes", "parents", "minutes", "horses"} & singulars
    assert all(len(word) > 3 and word.endswith("s") and not word.endswith("ss") for word in singulars)
