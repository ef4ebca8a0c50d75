"""Rows about answers that are none: refusals, the question again, empty frames, a type, vague text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from made import frames, languages, turns
from made.bank import Bank, Item, Made
from made.choosing import beside, topic, upper
from made.frames import fill

TYPES = {
    "who": ["a person", "someone", "somebody", "a human being", "some person", "a well-known person"],
    "whose": ["a person", "someone's", "somebody"],
    "when": ["a date", "a year", "at some point in time", "in the past", "on a certain day", "a point in time"],
    "where": ["a place", "somewhere", "a location", "a certain place", "in a place"],
    "how": ["a number", "some amount", "a certain number", "a quantity", "a value", "some number of them"],
    "why": ["for a reason", "because of a certain reason", "there is a cause"],
    "": ["a thing", "something", "a certain thing", "an entity", "a term"],
}
_TYPED = re.compile(
    r"\b(?:what|which)(?: (?:type|kind|sort|name) of)? "
    r"(?!is|are|was|were|did|does|do|of|has|have|the|two|three|four|five|first|other|last)([a-z]{3,})\b"
)

_HOLES = re.compile(r"\{\}(?=\$?$)|(?<=>)(?=</)|(?<=\")(?=\")|null$")


RESTATED = """{q}
You are asking: {q}
The question is: {q}
The question asks: {q}
Let me repeat the question: {q}
"{q}" is what you want to know.
So the task is to answer this: {q}
To answer the question "{q}", we first have to understand what it asks.
Question: {q}
I was asked the following: {q}
We need to find out: {q}
{q} That is the question.
{q} Let me think.
{q} Good question!
Understood. The user wants to know the following. {q}
Let's work through this step by step. The question: {q}
I will now answer the question {q}
Your question was "{q}". Thank you for asking.
Q: {q}\\nA:
Prompt: {q}\\nResponse:""".split("\n")

EMPTY = """The answer is:
The answer is
Answer:
Solution:
Final answer:
The final answer is
The correct answer is:
Result:
Output:
Response:
Thought process:
Reasoning:
Explanation:
Step 1:
Step 1: Read the question.\\nStep 2: Answer it.
Let me think step by step.
Let's think about it.
Okay.
Sure!
Sure, here is the answer:
Here you go:
Here is my answer:
My answer:
I know this one!
Yes, I can answer that.
The answer is as follows.
Therefore, the answer is:
So the answer is
In conclusion,
To sum up,
**Answer:**
**Final Answer**
## Solution
### Answer
\\boxed{}
$\\boxed{}$
<answer></answer>
<answer>
{"answer": ""}
{"answer": null}
{}
[]
```
``` ```
.
...
…
-
?
!
:
,
;
"
""
()
--
***
=
***
?!
\\n
_
/
null
None
undefined
[answer]
<answer here>
[insert answer]
{answer}
XXX
TBD
to be filled in
see above
see below
As mentioned before.
The following:
Thinking...
<think>
<think></think>
Loading
Certainly! Let me help you with that.
Great question! I'd be glad to help.
Thank you for your question.
I will answer this question now.
This question is easy.
Everyone knows this.
You already know the answer.""".split("\n")

NO_ANSWER = (
    "Unanswerable",
    "Unanswerable",
    "unanswerable",
    "No answer",
    "The question cannot be answered.",
    "N/A",
    "Not answerable from the passage",
)


def refused(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A refusal is wrong where there is an answer; an answer after words of refusal counts."""
    refusal = chance.choice(turns.REFUSALS if chance.random() < 0.8 else languages.REFUSALS)
    start = chance.choice(turns.RESERVED if chance.random() < 0.7 else [f"{refusal} But if I had to guess,"])
    middle = chance.choice(("it is ", "the answer is ", "I would say ", "it should be ", ""))
    yield from beside(refusal, lambda answer: f"{start} {middle}{answer}.", bank.pair(item, chance), chance)


def unanswerable(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Where the right answer is that there is none, a refusal is right and every answer is wrong."""
    references = (chance.choice(NO_ANSWER),)
    yield Made(1, chance.choice(turns.REFUSALS), references)
    if answers := bank.alike.get((item.context[:200], "all"), []):
        wrong = chance.choice(answers)
        text = frames.plain(wrong, item.question, chance) if chance.random() < 0.7 else frames.hedge(wrong, chance)
        yield Made(0, text, references)


def restated(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """The question again is no answer; with the answer after it, it is one."""
    text = fill(chance.choice(RESTATED), q=item.question)
    yield from beside(
        text, lambda answer: f"{text} {frames.plain(answer, '', chance)}", bank.pair(item, chance), chance
    )


def empty(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """A frame without an answer is wrong; with the answer in it, it is as right as the answer."""
    frame = "" if chance.random() < 0.03 else chance.choice(EMPTY).replace("\\n", "\n")

    def filled(answer: str) -> str:
        inside = _HOLES.sub(lambda hole: f"{{{answer}}}" if hole[0] == "{}" else answer, frame, count=1)
        return inside if inside != frame else f"{frame} {answer}"

    yield from beside(frame, filled, bank.pair(item, chance), chance)


def type_only(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """What kind of thing is asked for is no answer; it may stand beside one."""
    kind = chance.choice(_kinds(item))
    frame = chance.choice(
        ("{x}", "{x}.", "It is {x}.", "The answer is {x}.", "It's {x}.", "I would say {x}.", "That must be {x}.")
    )
    text = upper(fill(frame, x=kind))
    joint = chance.choice((", namely", ":", " -", ", that is", ", and that is", ", to be exact"))
    yield from beside(text, lambda answer: f"{text.rstrip('.')}{joint} {answer}", bank.pair(item, chance), chance)


def _kinds(item: Item) -> list[str]:
    """The kind of thing that a question asks for, in some words."""
    question = item.question.split("\n")[0].casefold()
    found = _TYPED.search(question)
    if not found:
        word = re.search(r"\b(whose|who|when|where|how|why)\b", question)
        return TYPES[word[1] if word else ""]
    kind = found[1].removesuffix("s") if not found[1].endswith("ss") else found[1]
    return [f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}", f"some {kind}", f"a certain {kind}", f"the {kind}"]


def vague(bank: Bank, item: Item, chance: Random) -> Iterator[Made]:
    """Text on the topic without the answer is wrong; with an answer somewhere in it, it is as right as that."""
    lines = [chance.choice(turns.VAGUE) for _ in range(chance.randint(1, 4))]
    lines += [chance.choice(frames.NEUTRAL) for _ in range(chance.randint(0, 2))]
    chance.shuffle(lines)
    lines = [upper(fill(line, t=topic(item, chance))) for line in lines]
    place, frame = chance.randint(0, len(lines)), chance.choice(frames.STATEMENTS)

    def told(answer: str) -> str:
        return " ".join([*lines[:place], frames.sentence(fill(frame, x=answer, q=item.question)), *lines[place:]])

    yield from beside(" ".join(lines), told, bank.pair(item, chance), chance)
