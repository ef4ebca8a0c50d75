"""Rows made in code from questions with known answers: as many correct as incorrect ones, of many kinds.

`KINDS` names what is made and how much of it. A kind can be left out without changing the rows of the others, so that
its effect can be measured. In most kinds each wrong row has a right twin in the same words, so that no word, length or
form of an answer gives its label away: only what it says, against what is asked and what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random

from bert_judge.types import Sample
from made import choosing, close, disguise, formats, forms, hollow, lists, made_up, measures, options, references, sums
from made.answers import labelled_pools
from made.bank import Bank, Rows, over, read_bank
from made.choosing import double, single

KINDS: dict[str, tuple[Callable[[Bank, Random], Rows], int]] = {
    # what an answer commits to
    "wrapped": (over("open", single(choosing.wrapped)), 2_400),
    "hedged": (over("open", single(choosing.hedged)), 940),
    "torn": (over("open", double(choosing.torn)), 1_200),
    "corrected": (over("open", double(choosing.corrected)), 2_000),
    "instead": (over("open", double(choosing.instead)), 1_400),
    "denied": (over("open", choosing.denied), 4_800),
    "denied plainly": (over("open", choosing.denied_plainly), 2_000),
    "terse": (over("open", choosing.terse), 2_000),
    "undecided": (over("open", choosing.undecided), 5_000),
    "reasoned": (over("open", double(choosing.reasoned)), 2_400),
    "unfinished": (over("open", choosing.unfinished), 4_600),
    "refused": (over("any", hollow.refused), 900),
    "unanswerable": (over("unanswerable", hollow.unanswerable), 2_000),
    # texts that do not answer
    "restated": (over("any", hollow.restated), 1_500),
    "empty": (over("any", hollow.empty), 2_000),
    "type only": (over("plain", hollow.type_only), 1_000),
    "vague": (over("any", hollow.vague), 900),
    # equal values in other forms
    "numbers": (over("numbers", forms.numbers), 2_000),
    "numbers in other languages": (over("numbers", forms.counted), 1_500),
    "units": (over("plain", measures.units), 2_000),
    "dates": (over("dates", forms.dates), 2_000),
    "lists": (over("lists", forms.lists), 900),
    "names": (over("people", forms.names), 800),
    "specific": (over("plain", forms.specific), 400),
    "opposites": (over("open", forms.wording), 400),
    # a small difference decides: question and answers are both made up
    "collected": (lists.collected, 3_600),
    "expressions": (sums.expressions, 2_600),
    "measured": (measures.measured, 5_000),
    "close dates": (close.close_dates, 1_800),
    "close names": (close.close_names, 1_800),
    "explanations": (close.explanations, 1_200),
    "beside the point": (close.beside_the_point, 1_000),
    # long references, and other words for the same thing
    "claims": (references.claims, 4_000),
    "explained at length": (references.explained_at_length, 3_000),
    "graded": (over("graded", references.graded), 1_500),
    # options, yes and no
    "letter and text": (over("options", options.letter_and_text), 900),
    "all options": (over("options", options.all_options), 1_500),
    "yes or no": (over("yes or no", options.said_yes_no), 480),
    # what must not matter
    "orders to the judge": (over("open", disguise.ordered), 2_400),
    "markers around options": (over("options", disguise.injected), 400),
    "markers around explanations": (close.of_explanations(disguise.injected), 500),
    "orders beside explanations": (close.of_explanations(disguise.ordered), 400),
    "noise": (over("words", single(disguise.noisy)), 720),
    "languages": (over("open", double(disguise.foreign)), 940),
    "elaborated": (over("open", disguise.elaborated), 8_000),
    "spans": (over("plain", disguise.spans), 3_000),
    "long text, answer at its start": (over("open", disguise.long_text("start")), 700),
    "long text, explanation at its start": (close.of_explanations(disguise.long_text("start")), 300),
    "long text, answer in its middle": (over("open", disguise.long_text("middle")), 800),
    "long text, answer at its end": (over("open", disguise.long_text("end")), 600),
    # formats, by family
    **{f"form {family}": (formats.formatted(family), 800) for family in formats.FORMS},
}


NO_CHANGE: Mapping[str, int] = {}


def made_rows(folder: Path, seed: int = 0, amounts: Mapping[str, int] = NO_CHANGE) -> Iterator[Sample]:
    """Rows made from the questions of `folder/tasks`, with wrong answers also from `folder/labelled` if it is there.

    `meta` of a row has its source, "made:KIND", and the task of its question, whose words are unchanged. `amounts`
    says for some kinds how many rows are made of them. The same folder and seed give the same rows; where a folder has
    too few questions for a kind, it has fewer rows.
    """
    bank = read_bank(folder)
    bank.pools.update(labelled_pools(folder))
    bank.add(made_up.items(bank, Random(f"{seed}items")))
    for kind, (make, wanted) in KINDS.items():
        for n, (item, made) in enumerate(islice(_once(make(bank, Random(f"{seed}{kind}"))), amounts.get(kind, wanted))):
            question, references = options.written(item, Random(f"{seed}{kind}{item.question}"))
            yield Sample(
                made.candidate,
                made.references or references,
                question,
                f"{kind}-{n}",
                made.label,
                meta={"source": f"made:{kind}", "task": item.task},
            )


def _once(rows: Rows) -> Rows:
    """The rows without repetitions."""
    seen = set()
    for item, made in rows:
        key = (item.question, made.candidate, made.references)
        if key not in seen:
            seen.add(key)
            yield item, made
