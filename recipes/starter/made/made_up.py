"""Made-up questions, whose correct and incorrect answers differ little, for all other kinds of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

from made.bank import Bank, Item
from made.close import close_dates, close_names, explanations, neighbours
from made.lists import collected
from made.other_words import other_words
from made.sums import expressions

# How many items each maker gives.
MADE_UP = {
    collected: 300,
    expressions: 400,
    close_dates: 150,
    close_names: 150,
    neighbours: 600,
    explanations: 1_200,
    other_words: 400,
}


def items(bank: Bank, chance: Random) -> Iterator[Item]:
    """Made-up questions, each with a similar incorrect answer, to make other kinds of rows from.

    Each maker gives at most a tenth as many as the bank has, so that a small folder keeps the majority.
    """
    most = sum(map(len, bank.pools.get("open", {}).values())) // 10
    for maker, wanted in MADE_UP.items():
        rows = islice(maker(bank, chance), 4 * wanted)
        distinct = dict.fromkeys(replace(item, task=maker.__name__) for item, _ in rows)
        yield from islice(distinct, min(wanted, most))
