"""Rows about what an answer commits to: hedged, corrected, torn, denied, undecided, reasoned, unfinished."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from made import frames, turns
from made.bank import Bank, Item, Made, Maker
from made.frames import fill

_TOPIC_STOPS = frozenset(
    "who what when where which how why is are was were did do does the a an of in on at to for from by with many much "
    "and or that this it its as be been has have had can could would will name first following these those not".split()
)


def single(wrap: Callable[[str, Item, Random], str]) -> Maker:
    """A right and a wrong answer in frames that `wrap` puts around them; half of the time in the same frame."""

    def make(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
        if pair := bank.pair(item, chance):
            seed, same = chance.random(), chance.random() < 0.5
            for label, text in ((1, pair[0]), (0, pair[1])):
                yield Made(label, wrap(text, item, Random(seed if same else seed + label)))

    return make


def double(wrap: Callable[[str, str, Item, Random], str]) -> Maker:
    """Two rows of one frame that holds both a right and a wrong answer: each is the chosen one in one row."""

    def make(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
        if pair := bank.pair(item, chance):
            seed = chance.random()
            for label, (b, a) in ((1, pair), (0, pair[::-1])):
                yield Made(label, wrap(a, b, item, Random(seed)))

    return make


def topic(item: Item, chance: Random) -> str:
    """What a question is about: some of its words in a row, without the question word."""
    words = re.findall(r"[\w'’-]+", item.question.split("\n")[0])
    runs: list[list[str]] = [[]]
    for word in words:
        if word.casefold() in _TOPIC_STOPS:
            runs.append([])
        else:
            runs[-1].append(word)
    runs = [run[:6] for run in runs if any(len(word) > 3 for word in run)]
    runs = [run for run in runs if len(run) > 1 or run[0][0].isupper()] or runs
    return " ".join(chance.choice(runs)) if runs else "this matter"


def upper(text: str) -> str:
    """A text with a capital first letter."""
    return text[:1].upper() + text[1:]


def hedged(text: str, item: Item, chance: Random) -> str:
    """An answer given with doubt, sometimes with a remark before or after it."""
    answer = frames.hedge(text, chance)
    return f"{chance.choice(frames.OPENERS)} {answer}" if chance.random() < 0.2 else answer


def torn(a: str, b: str, item: Item, chance: Random) -> str:
    """Two answers are weighed and one is chosen: by its name, or as the first or the second."""
    one, two = (a, b) if chance.random() < 0.5 else (b, a)
    start = fill(chance.choice(turns.TORN), **{"1": one, "2": two})
    pointer = chance.choice(
        ("the former", "the first", "the first one") if one == b else ("the latter", "the second one")
    )
    chosen = pointer if chance.random() < 0.12 else b
    return f"{start} {upper(fill(chance.choice(turns.CHOICES), a=a, b=chosen))}"


def corrected(a: str, b: str, item: Item, chance: Random) -> str:
    """One answer is given and taken back for another, or kept after a look at another."""
    return fill(chance.choice(turns.CORRECTIONS if chance.random() < 0.65 else turns.RETURNS), a=a, b=b)


def instead(a: str, b: str, item: Item, chance: Random) -> str:
    """One answer is denied, the other is given."""
    return fill(chance.choice(turns.INSTEAD), a=a, b=b)


def reasoned(a: str, b: str, item: Item, chance: Random) -> str:
    """A few sentences that look at one answer, reject it and conclude with the other."""
    about = topic(item, chance)
    considered = f"{chance.choice(turns.CONSIDERED)} {chance.choice(turns.REJECTED)}"
    middle = [considered, chance.choice(turns.SUPPORTED)]
    chance.shuffle(middle)
    parts = [chance.choice(turns.STARTS), *middle]
    for _ in range(chance.randint(0, 3)):
        parts.insert(chance.randint(1, len(parts)), chance.choice(frames.NEUTRAL))
    parts += [chance.choice(turns.CONCLUDED)]
    if chance.random() < 0.2:
        parts += [f"And not {{a}}, although {{a}} looks {chance.choice(('good', 'tempting', 'similar', 'natural'))}."]
    joint = chance.choice((" ", " ", "\n", "\n\n"))
    return upper(fill(joint.join(parts), a=a, b=b, q=item.question, t=about))


def beside(none: str, fill_in: Callable[[str], str], pair: tuple[str, str] | None, chance: Random) -> Iterator[Made]:
    """A text without an answer is wrong. With an answer in it, it is as right as the answer: mostly right, not always,
    so that an answer in such a place is no sign of its being right; the balance stays."""
    yield Made(0, none)
    if pair:
        yield Made(1, fill_in(pair[0]))
        if chance.random() < 0.5:
            yield Made(0, fill_in(pair[1]))
            yield Made(1, pair[0] if chance.random() < 0.5 else frames.hedge(pair[0], chance))


def unfinished(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Reasoning that breaks off before its conclusion is wrong; broken off after it, the conclusion counts."""
    pair = bank.pair(item, chance)
    if not pair:
        return
    one, two = pair if chance.random() < 0.5 else pair[::-1]
    about = topic(item, chance)
    start = [chance.choice(turns.STARTS), chance.choice(turns.CONSIDERED)]
    start += [chance.choice(frames.NEUTRAL) for _ in range(chance.randint(0, 2))]
    start += [chance.choice(turns.CONSIDERED).replace("{a}", "{b}")] if chance.random() < 0.5 else []
    text = fill(" ".join(start), a=one, b=two, q=item.question, t=about)

    def concluded(answer: str) -> str:
        ending = frames.sentence(fill(chance.choice(turns.CONCLUDED), b=answer))
        return f"{text} {ending}" + (f" {chance.choice(turns.CUT)}" if chance.random() < 0.5 else "")

    yield from beside(f"{text} {chance.choice(turns.CUT)}", concluded, pair, chance)


def undecided(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Both answers without a choice are wrong; the same words with a choice are as right as the choice."""
    pair = bank.pair(item, chance)
    if not pair:
        return
    one, two = pair if chance.random() < 0.5 else pair[::-1]
    both = fill(chance.choice(turns.TORN), **{"1": one, "2": two})
    if chance.random() < 0.3:
        forms = ("{1} or {2}", "{1} / {2}", "{1}, {2}", "Either {1} or {2}.", "{1}?\\n{2}?", "{1} and {2}", "{1}; {2}")
        both = fill(chance.choice(forms), **{"1": one, "2": two})
    both = frames.sentence(both)
    doubt = chance.choice(turns.NO_CHOICE)

    def chosen(answer: str) -> str:
        choice = chance.choice(
            ("{x}.", "I take {x}.", "It's {x}.", "Definitely {x}.", "If pressed, {x}.", "Make it {x}.")
        )
        middle = f" {doubt}" if doubt and chance.random() < 0.4 else ""
        return f"{both}{middle} {upper(fill(choice, x=answer))}"

    yield from beside(f"{both} {doubt}".strip(), chosen, pair, chance)


def denied(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """An answer that is only denied is wrong, whatever it was; denials of another answer change nothing."""
    if pair := bank.pair(item, chance):
        denial = chance.choice(turns.DENIALS)
        yield Made(0, fill(denial, x=pair[chance.random() < 0.15]))
        if chance.random() < 0.5:
            yield Made(1, fill(chance.choice(turns.AFFIRMED), x=pair[0]))
        else:
            yield Made(1, fill(f"{denial} It is {{b}}.", x=pair[1], b=pair[0]))
        if chance.random() < 0.4:
            yield Made(0, fill(f"{denial} It is {{b}}.", x=pair[0], b=pair[1]))
            yield Made(1, fill(chance.choice(turns.AFFIRMED), x=pair[0]))
        if chance.random() < 0.3:
            yield Made(0, fill(chance.choice(turns.AFFIRMED), x=pair[1]))
            yield Made(1, fill(f"{denial} Rather {{b}}.", x=pair[1], b=pair[0]))


def chatty(text: str, item: Item, chance: Random) -> str:
    """An answer in a paragraph as a talkative model writes it."""
    about = topic(item, chance)
    parts = [chance.choice(frames.OPENERS)]
    parts += [upper(fill(chance.choice(turns.VAGUE), t=about))] if chance.random() < 0.6 else []
    parts += [frames.sentence(fill(chance.choice(frames.STATEMENTS), x=text, q=item.question))]
    parts += [chance.choice(frames.NEUTRAL)] if chance.random() < 0.6 else []
    parts += [chance.choice(frames.CLOSERS)] if chance.random() < 0.7 else []
    return chance.choice((" ", " ", "\n\n")).join(parts)


def wrapped(text: str, item: Item, chance: Random) -> str:
    """An answer as systems give it."""
    return frames.plain(text, item.question, chance)


RESULTS = (
    "The answer is {b}.",
    "#### {b}",
    "So the answer is {b}.",
    "Final answer: {b}",
    "Therefore, {b}.",
    "\\boxed{{b}}",
    "Answer: {b}",
    "{b}",
)


def solved(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A worked solution: to the right result, to another one, or without one at the end."""
    steps = item.solution.split("\n")
    right = item.references[0]
    wrong = bank.wrong(item, chance)
    if not wrong or right not in steps[-1]:
        return
    swap = re.compile(rf"(?<![\d.]){re.escape(right)}(?![\d])")
    whole, end = "\n".join(steps), chance.choice(RESULTS)
    yield Made(1, f"{whole}\n{fill(end, b=right)}")
    changed = "\n".join([*steps[:-1], swap.sub(lambda found: wrong, steps[-1])]) if chance.random() < 0.6 else whole
    yield Made(0, f"{changed}\n{fill(end, b=wrong)}")
    before = steps[: next(n for n, step in enumerate(steps) if right in step)]
    if before and chance.random() < 0.5:
        passing = chance.choice(
            (
                "At this point one may take {b} for the answer, but there is more to do.",
                "This gives {b}, but that is not yet what is asked.",
                "Note that {b} is not the answer yet.",
            )
        )
        early = [before[0], fill(passing, b=wrong), *before[1:]]
        cut = early if chance.random() < 0.6 else before
        yield Made(0, "\n".join(cut) + chance.choice(("", "\nSo the", "\nNow we", "\nThe answer is", "\nNext,")))
        yield Made(1, "\n".join([*early, *steps[len(before) :], fill(end, b=right)]))
