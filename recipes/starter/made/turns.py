"""How an answer is weighed against another, taken back, denied, refused or reasoned out: sentences with slots.

{a} is given up, {b} is the answer, {1} and {2} are both of them in either order, {x} is the only one that is named.
"""

from __future__ import annotations

TORN = """I'm torn between {1} and {2}.
I hesitate between {1} and {2}.
I am wavering between {1} and {2}.
It is either {1} or {2}.
It could be {1} or {2}.
Two answers come to mind: {1} and {2}.
There are two candidates, {1} and {2}.
{1} or {2}?
{1}, {2}... hard to choose.
Both {1} and {2} seem possible.
I can't quite decide between {1} and {2}.
My first ideas were {1} and {2}.
Some say {1}, others say {2}.
One could think of {1} as well as of {2}.
Is it {1}, or rather {2}?
People usually name {1} or {2} here.
I keep going back and forth between {1} and {2}.
I see two options here: {1} / {2}.
Sources differ: one has {1}, another has {2}.
The choice is between {1} and {2}, it seems.""".split("\n")

CHOICES = """I would say {b}.
I'd go with {b}.
I'll pick {b}.
My pick: {b}.
I choose {b}.
In the end I take {b}.
If I have to choose, {b}.
{b} fits better.
{b} is more likely, so I take it.
On balance, {b}.
Final decision: {b}.
I settle on {b}.
I'd bet on {b}.
{b} gets my vote.
{b} rather than {a}.
Not {a} though, so {b}.
Let's say {b}.
After some thought: {b}.
More probably {b}.
Weighing it all, the answer must be {b}.""".split("\n")

NO_CHOICE = """
I can't tell which.
It's one of these two.
Either could be right.
Both are plausible.
You will have to decide.
I leave it open.
Hard to say which one.
Choose the one you like.
It has to be one of them.
I don't want to commit.
There is no way for me to say which one it is.""".split("\n")

CORRECTIONS = """{a}... no, wait, {b}.
{a}. Actually, {b}.
{a}. Sorry, I meant {b}.
{a}, no, {b}.
{a} - correction: {b}.
{a}? No. {b}!
At first I thought of {a}, but the correct answer is {b}.
I was going to say {a}, but it is {b}.
My first answer was {a}; on reflection it is {b}.
It's {a}. Hmm, let me check that again. No, it's {b}.
The answer is {a}. Oops, that is wrong: the answer is {b}.
Initially {a} looked right. Having checked it, I change my answer to {b}.
~~{a}~~ {b}
I said {a} before. I take that back: {b}.
Let me correct myself: not {a}, {b}.
{a} was my first thought, {b} is my answer.
Scratch {a}; make that {b}.
Answer: {a}\\nEdit: {b}
Strike that, it isn't {a}. It's {b}.
You may expect {a}, yet the right one is {b}.
{a} would be the obvious reply, but {b} is the true one.
I used to believe it was {a}. Now I know it is {b}.
First attempt: {a}. Check: fails. Second attempt: {b}.
Hm, {a}... that can't be. {b}, then.
Draft: {a}. Final: {b}.""".split("\n")

# Comes back to {b} after a look at {a}.
RETURNS = """I thought of {b}, then had doubts and considered {a}, but I come back to {b}.
{b}. Or {a}? No, {b} after all.
{b}... or maybe {a}... no, I was right the first time.
My first answer was {b}. I looked at {a} as well, and I stay with the first one.
It's {b}. Wait, could it be {a}? No, that doesn't fit. I keep my answer.
{b}. Some would object and say {a}, but they are mistaken.
I wondered about {a} for a moment, but no: {b}.
{b} (I also considered {a} and rejected it)
{b}, even though {a} is often named.
I answer {b}. {a} was ruled out.
First {b}, then {a}, and now {b} again; that is my last word.
{b} was my guess. A friend suggests {a}. I don't agree with the friend.""".split("\n")

DENIALS = """It is not {x}.
It isn't {x}.
The answer is not {x}.
It's definitely not {x}.
Certainly not {x}.
Anything but {x}.
It can't be {x}.
It was never {x}.
{x} is wrong.
{x} is not the answer.
{x} would be a mistake.
I don't think it's {x}.
I doubt that it is {x}.
We can rule out {x}.
{x} is out of the question.
Many believe it's {x}, but this is false.
The claim that it is {x} has been disproved.
Contrary to what is often said, it wasn't {x}.
I know for sure that {x} is not correct.
No one who knows the subject would answer {x}.""".split("\n")

# Words of denial that deny something else.
AFFIRMED = """It is {x}, not a doubt about it.
It isn't hard: {x}.
The answer is not a secret: {x}.
It's definitely {x}, no question.
Certainly not a hard one. {x}.
It can't be anything but {x}.
It was never anything other than {x}.
{x}, and nothing else.
{x}. There is no other answer.
{x} is not wrong.
I don't think it's anything other than {x}.
I don't doubt that it is {x}.
We can't rule out {x}; in fact it is the answer.
{x}, without question.
Many don't believe it, but it's {x}.
The claim that it is {x} has never been disproved; it is true.
Contrary to what is often said, it was {x}.
No one who knows the subject would answer anything but {x}.
Don't look any further: {x}.
Not many people know this. {x}.""".split("\n")

INSTEAD = """It is not {a} but {b}.
Not {a}, but {b}.
It isn't {a}, it's {b}.
{b}, not {a}.
{b} (not {a})
{b}, and not {a} as many think.
{a} is wrong, {b} is right.
Rather than {a}, it's {b}.
{b} instead of {a}.
Many say {a}. In fact it is {b}.
Don't confuse it with {a}: the answer is {b}.
It's {b}; {a} is something else.
{a}? Certainly not. {b}.
Unlike what you may have read, it was {b} and never {a}.
While {a} is related to this, the answer is {b}.
{b} - don't mix it up with {a}!
Wrong: {a}. Right: {b}.
It used to be said that it's {a}; today we know that it's {b}.
By no means {a}. {b}.
Neither {a} nor anything like it: {b}.""".split("\n")

REFUSALS = """I don't know.
I'm afraid I don't know the answer.
Sorry, I can't help with that.
I'm sorry, but I am not able to answer this question.
There is not enough information to answer.
The text does not say.
The passage gives no answer to that.
This can't be answered with what is given.
No answer is possible here.
I have no idea.
No idea, sorry.
I cannot determine this.
It is unclear from what I have.
I lack the information to reply.
This is not mentioned anywhere.
I couldn't find an answer.
I would rather not guess.
N/A
Unknown.
None.
I do not have access to this information.
My knowledge does not reach that far.
It is impossible to say.
Nothing in the text tells us that.
The question has no answer.
This question can't be answered.
I have to pass on this one.
Not stated.
As a language model, I can't look this up.
Cannot say.
You would have to ask an expert.
The document never states this.
Insufficient data.""".split("\n")

RESERVED = """I can't look this up, but
I can't verify it;
There isn't much information on this, but
I'm not able to check sources. Still,
I do not know all the details, but
Nobody told me, yet
It is not stated outright, but
I don't know much about this subject. Anyway,
I'm sorry for the delay:
Sorry, I can't give you sources, but
Sorry for my mistake earlier;
I have no idea why you ask, but
I cannot browse the web, yet
The text is unclear in places, but
I'm no expert;""".split("\n")

# Sentences of a line of reasoning on question {q} about topic {t}, in their order.
STARTS = """Let me think about this.
Let's go through it step by step.
First, what is asked? {q}
I need to work out the answer to "{q}".
Okay, the question is about {t}.
This takes a little thought.
We have to be careful here.
Let me recall what I know about {t}.
Thinking aloud:
To answer this, I go through the candidates.
Step 1: look at the possible answers.
There is more than one thing to consider.""".split("\n")

CONSIDERED = """One might think of {a}.
{a} comes to mind first.
A common answer is {a}.
{a} is a candidate.
Some sources mention {a} in this context.
{a} is closely related to this.
Could it be {a}?
Let me look at {a} first.
There is {a}, which is often named here.
I have seen {a} given as the answer.
Suppose it is {a}.
The first thing I find is {a}.""".split("\n")

REJECTED = """However, this does not fit what is asked.
But that is a different case.
That can't be right, though.
On a second look it does not match.
But the details are off.
This does not agree with the rest of the question.
That, however, belongs to something else.
The facts speak against it.
Checking this shows that it fails.
So this can be ruled out.
But no, that is a common mistake.
That leads to a contradiction.""".split("\n")

SUPPORTED = """Then there is {b}, which agrees with everything.
{b}, on the other hand, fits.
What remains is {b}.
The description matches {b}.
Everything that is asked holds for {b}.
Looking at {b}, all the details agree.
{b} satisfies the conditions.
This brings me to {b}.
Taking all this together points to {b}.
By contrast, {b} is consistent with the question.""".split("\n")

CONCLUDED = """So the answer is {b}.
Therefore the answer must be {b}.
Thus: {b}.
Final answer: {b}
Hence {b}.
I conclude that it is {b}.
So, {b}.
The answer is {b}.
Answer: {b}
My conclusion: {b}.
In the end, {b} it is.
That gives {b}.""".split("\n")

CUT = """So the answer
Therefore, the
So, putting this together, we
Which means that
Now, let me check the remaining
The next step is to
Hence we can say that the answer to the quest
But then again, if we look at
To decide between them, I need to
Looking at this more closely, it
Let me verify this by
Wait, let me re-read the question. It says""".split("\n")

# On topic {t}, without saying anything.
VAGUE = """{t} is a broad subject with a long history.
There is a lot to say about {t}.
{t} has been discussed by many authors.
Many people are interested in {t}.
When it comes to {t}, several aspects have to be considered.
{t} plays an important role in its field.
To understand {t}, one has to look at the wider context.
The answer depends on how exactly {t} is understood.
{t} is well known and often talked about.
Over time, views on {t} have changed.
There are various facts on {t}, and all of them are interesting.
As for {t}, experts have studied it in depth.
Questions on {t} are common in quizzes and in class.
{t} should be seen together with related matters.
A closer look at {t} shows how rich the topic is.
Information on {t} can be found in books and on the web.
In connection with {t}, a number of names, dates and places matter.
{t} continues to be of interest today.""".split("\n")
