"""The words around an answer: plain frames composed of parts, other languages, markup, neutral prose."""

from __future__ import annotations

import re
from random import Random

STATEMENTS = """The answer is {x}.
The answer is: {x}
The answer to this question is {x}.
The correct answer is {x}.
The right answer here is {x}.
Answer: {x}
Final answer: {x}
A: {x}
My answer: {x}
It is {x}.
It's {x}.
That is {x}.
That would be {x}.
This is {x}.
It was {x}.
It has to be {x}.
What you are looking for is {x}.
You are looking for {x}.
As far as records go, it is {x}.
In short, {x}.
In one word: {x}.
To put it briefly: {x}.
Simply {x}.
The solution is {x}.
We get {x}.
So the result is {x}.
Therefore, {x}.
Hence the answer is {x}.
I would answer {x}.
I'd go for {x}.
I say {x}.
My reply is {x}.
{x} is the answer.
{x} is what was asked for.
{x} is correct.
{x}, that is the answer.
{x}, of course.
{x} it is.
According to most sources, {x}.
It turns out to be {x}.
It was found to be {x}.
The one in question is {x}.
Everything points to {x}.
One can state that it is {x}.
=> {x}
-> {x}
Result = {x}
ans: {x}
Response: {x}
Short answer: {x}
Q: {q}\\nA: {x}
Question: {q} Answer: {x}
{q} {x}
{q} - {x}
To the question "{q}" the reply is {x}.
You asked: {q} It is {x}.""".split("\n")

OPENERS = """Sure!
Sure, happy to help.
Of course.
Certainly.
Good question.
That's an interesting one.
Thanks for asking.
Okay, let's see.
Hmm.
Well,
Right.
Let me answer that.
Here is what I found.
Here you go:
Based on what I know:
From memory:
After a short check:
Happy to explain.
Let me think for a second.
I looked into this.
No problem.
Hello! Thank you for your question.
This one is well known.
As an assistant I can tell you this.""".split("\n")

CLOSERS = """I hope this helps!
Let me know if you need anything else.
Feel free to ask if you want more details.
Is there anything else you would like to know?
That is all there is to it.
You can check this in any encyclopedia.
This is well documented.
Please tell me if you need sources.
I can go into more detail if you like.
Have a nice day!
There is more to say about the background, of course.
Others may give you a longer account.
Good luck with your quiz.
This should settle the question.
Sources on this agree for the most part.""".split("\n")

HEDGES = """I think it is {x}
I believe the answer is {x}
I'm fairly sure that it's {x}
My best guess is {x}
If I remember correctly, it was {x}
If memory serves, {x}
It's probably {x}
It is most likely {x}
It could well be {x}
It might be {x}
I would guess {x}
I'd say {x}
I suppose it's {x}
It seems to be {x}
It appears to be {x}
As far as I know, the answer is {x}
To the best of my knowledge: {x}
Perhaps {x}
Maybe it's {x}
I have a feeling that it's {x}
I lean towards {x}
From what I recall it's {x}
Off the top of my head: {x}
Without having checked, {x}
I want to say {x}
Presumably {x}
My hunch is {x}
Probably {x}
Possibly {x}
I am inclined to answer {x}""".split("\n")

DOUBTS = """, but I'm not entirely sure.
, but I could be wrong.
, though I can't be certain.
, though you may want to check that.
, but don't quote me on it.
, but please verify this.
, although my memory may fail me here.
, if I'm not mistaken.
, I believe.
, I think.
, as far as I can tell.
, but take this with a grain of salt.
, at least that is what I was told.
, yet I have some doubts.
. I'm about 70% confident.
. It's hard to be certain, though.
. I might be mixing things up.
. Not a hundred percent sure.
. Someone else may know better.
.
?""".split("\n")

MARKUP = """**{x}**
__{x}__
*{x}*
`{x}`
"{x}"
'{x}'
«{x}»
({x})
[{x}]
- {x}
* {x}
1. {x}
# {x}
> {x}
\\boxed{{x}}
$\\boxed{{x}}$
\\[ \\boxed{\\text{{x}}} \\]
\\text{{x}}
$${x}$$
<b>{x}</b>
<p>The answer is <strong>{x}</strong>.</p>
<answer>{x}</answer>
<final_answer>{x}</final_answer>
<response><value>{x}</value></response>
{"answer": "{x}"}
{"answer": "{x}", "confidence": 0.87}
{"reasoning": "I looked at what was asked.", "answer": "{x}"}
{'result': '{x}'}
[{"id": 1, "text": "{x}"}]
answer: {x}
answer:\\n  value: "{x}"
```\\n{x}\\n```
```json\\n{"final": "{x}"}\\n```
print("{x}")
| question | answer |\\n|---|---|\\n| 1 | {x} |
**Answer:** {x}
### Answer\\n\\n{x}
**Final Answer**: *{x}*
## Solution\\n\\nThe result is **{x}**.
<think>\\nLet me see what is asked here.\\n</think>\\n{x}
<ul><li>{x}</li></ul>
<span style="color:red">{x}</span>
[{x}](https://example.org/wiki)
{x}[1]
{x} [source: web]
#### {x}
Answer → **{x}** ✅
👉 {x}""".split("\n")

NEUTRAL = """Before going into the details, some background may be useful.
The subject has been treated in many books and articles.
It has kept researchers and interested readers busy for a long time.
Opinions on the finer points have changed over the years.
There are several ways to look at it, and each has its merits.
A number of sources were compared for this reply.
Not all of them go into the same depth.
Some accounts put more weight on the circumstances, others on the outcome.
It helps to read the question slowly and to note what exactly is asked.
The wording matters here, as it often does.
One should keep the wider context in mind as well.
The history behind it is longer than one might expect.
People come across this topic at school, in quizzes and in the news.
A full treatment would fill many pages.
Several details are left out here to keep the reply readable.
What follows is a summary in plain words.
Where records are incomplete, careful wording is in order.
The general picture is nevertheless clear enough.
Similar questions come up from time to time.
None of this changes the main point.
Further reading is easy to find in any good library.
Terms are used in their ordinary meaning.
It's worth noting that some descriptions are simplified.
In everyday life the matter rarely comes up.
Teachers like to use it as an example.
A look at a reference work will give you the same impression.
The rest is a matter of presentation.
With this in mind, we can move on.
So much for the general remarks.
Details may vary from one edition to the next.""".split("\n")


def fill(template: str, **values: str) -> str:
    """A template with its slots filled; other braces and the line breaks written as \\n stay what they are."""
    text = template.replace("\\n", "\n")
    return re.sub(r"\{([a-z0-9])\}", lambda m: values.get(m[1], m[0]), text)


def plain(x: str, question: str, chance: Random) -> str:
    """An answer as systems give it: bare, in a sentence, with an opening or closing remark."""
    if chance.random() < 0.25:
        return x
    text = fill(chance.choice(STATEMENTS), x=x, q=question)
    if chance.random() < 0.3:
        text = f"{chance.choice(OPENERS)} {text}"
    if chance.random() < 0.25:
        text = f"{sentence(text)} {chance.choice(CLOSERS)}"
    return text


def sentence(text: str) -> str:
    """A text with a full stop, unless it ends with a mark of its own."""
    return f"{text}." if text[-1:].isalnum() or text[-1:] in ")%" else text


def hedge(x: str, chance: Random) -> str:
    """An answer given with doubt."""
    return fill(chance.choice(HEDGES) + chance.choice(DOUBTS), x=x)


def prose(words: int, chance: Random, passages: list[str]) -> list[str]:
    """Sentences that say nothing on the question, about so many words: of the list above and of `passages`."""
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < words:
        if passages and chance.random() < 0.6:
            found = re.split(r"(?<=[.!?])\s+", chance.choice(passages))
            start = chance.randrange(len(found))
            sentences += found[start : start + chance.randint(1, 5)]
        else:
            sentences.append(chance.choice(NEUTRAL))
    return sentences
