"""An answer as a sentence in the words of its question: "The capital of Peru is Lima."

A question is taken apart at its verb: what it asks for, the verb, and the rest. To put "did the war end" in the order
of a statement, the second verb has to be found: `verbs.txt` has the forms of 500, and marks those that are nouns, too,
that have no object ("alone"), and whose object is a clause. Questions of other forms get no sentence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from made.files import lines, table

_VERBS = [line.split() for line in lines("verbs")]
_NOUNS, _ALONE, _WITH_CLAUSE = (
    {base for base, _, _, *marks in _VERBS if mark in marks} for mark in ("noun", "alone", "clause")
)
_PAST = {base: past for base, past, *_ in _VERBS}
_PARTICIPLES = {participle for _, _, participle, *_ in _VERBS} | {*table("words")["participles, too"]}
_BE = {"is", "are", "was", "were"}
_HAVE = {"has", "have", "had"}
_DO = {"did", "does", "do"}
_AUXILIARIES = _BE | _HAVE | _DO | {*table("words")["auxiliaries"]}
_PREPOSITIONS = {*table("words")["prepositions"]}
_NO_VERB_AFTER = {*_PREPOSITIONS, *table("words")["no verb after"]}
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIMES = re.compile(r"(?:exact |calendar )?(?:year|date|day|month|century|decade|season|time)\b.*")
_LASTING = re.compile(r"(?:years|months|weeks|days|hours|minutes|times)\b.*")
_KINDS = re.compile(r"(?:type|kind|sort|colou?r|nationality|size|occupation|genre)\b.*")
_NUMBER = re.compile(r"(?:about |over |around )?(?:[$£€]?\d[\d,.]*%?(?: \w+illion)?|[a-z-]+)", re.IGNORECASE)
_AHEAD = re.compile(
    r"((?:according to|in|during|after|before|as of|on|at|by|if|given that|when|for|between|from|since|while) [^?]*?), "
    r"((?:who|what|which|when|where|how|name|find|in what|in which) .+)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:(?P<prep>in|on|at|to|from|by|with|for|of|under|against|during|since|until) )?"
    r"(?P<asked>who|whom|what|which|when|where|how many) (?P<rest>.+)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:find|name|state|give|identify|determine|evaluate|compute) (the .+)", re.IGNORECASE)
_AT_THE_END = re.compile(
    r"(?!how|who|what|which|when|where|why)([^:]* [^:]*[^,:]) (?:what|which|whom)\b[^,'’]*", re.IGNORECASE
)
_SEVERAL_SENTENCES = re.compile(r"[\n?!]|(?<!\b[A-Za-z])(?<!\bSt)(?<!\b[DM]r)\. |\b(?:I|my|me)\b")


class _Clause(NamedTuple):
    """ "Did the war end in Europe" in the order of a statement: "the war", "ended", "in Europe"."""

    subject: str
    verb: str
    rest: str
    base: str  # "end"


def stated(question: str, answer: str) -> str | None:
    """The answer as a sentence made from the question; None where no rule gives one."""
    question = re.sub(r"^(who|what|where|when)['’]s ", r"\1 is ", question.strip().rstrip("? ."), flags=re.IGNORECASE)
    answer = answer.strip().removesuffix(".")
    if not 0 < len(answer.split()) <= 8 or answer[0] == "(" or answer[-1] in "?!:;,":
        return None
    if len(question.split()) > 30 or _SEVERAL_SENTENCES.search(question) or "\n" in answer:
        return None
    if answer.lower() in ("yes", "no", "unanswerable"):
        return None
    answer = re.sub(r"^(An?|The)(?= [a-z])", lambda article: article[0].lower(), answer)
    start, question = ahead.groups() if (ahead := _AHEAD.fullmatch(question)) else ("", question)
    question = re.sub(r"^(.+?) ?[,:;] .+\bor\b .+", r"\1", question)
    text = _sentence(question, answer)
    text = " ".join(f"{start}, {text}".split() if start else text.split()) if text else ""
    return text[0].upper() + text[1:] + "." if text else None


def _sentence(question: str, answer: str) -> str | None:
    if named := _NAME.fullmatch(question):
        return f"{named[1]} {'are' if re.match('the (?:two|three|four|five|six) ', named[1]) else 'is'} {answer}"
    match = _ASKED.fullmatch(question)
    if not match:
        last = _AT_THE_END.fullmatch(question)
        return f"{last[1]} {answer}" if last and any(_is_verb(last[1].split(), n) for n in range(99)) else None
    asked, prep, words = match["asked"].lower(), match["prep"], match["rest"].split()
    at = 0 if asked == "who" else _verb_at(words)
    if at is None or at + 1 >= len(words):
        return None
    noun, verb, text = " ".join(words[:at]), words[at], " ".join(words[at + 1 :])
    clause = _in_order(verb, text) if verb in _AUXILIARIES else None
    timed = asked == "when" or _TIMES.fullmatch(noun)
    if clause and clause.rest in _PREPOSITIONS and not timed and asked != "how many":
        return _as_object(clause, answer)
    if prep or timed or asked == "where":
        phrase = _dated(answer) if timed else _placed(answer, prep or "in")
        phrase = _placed(answer, prep) if phrase and prep else phrase
        return _adverb(verb, text, clause, phrase)
    if asked == "how many":
        return _counted(noun, verb, text, clause, answer) if _NUMBER.fullmatch(answer) else None
    if clause and (verb not in _BE or clause.base in ("called", "named", "known")):
        return _as_object(clause, answer)
    if verb in _BE and not _goes_on(text) and (_KINDS.fullmatch(noun) or (not noun and asked != "who")):
        return f"{text} {verb} {answer}"
    return _as_subject(verb, text, answer)


def _verb_at(words: list[str]) -> int | None:
    """The place of a question's verb; a word that is mostly a noun counts where no other verb follows."""
    places = [n for n in range(len(words)) if _is_verb(words, n)]
    if places and words[places[0]] not in _AUXILIARIES and (asked := [n for n in places if words[n] in _DO]):
        return asked[0]
    first, second = [*places, None, None][:2]
    noun = second and words[first] in _NOUN_FORMS and (words[second] in _AUXILIARIES or second == first + 1)
    return second if noun else first


def _is_verb(words: list[str], at: int) -> bool:
    word = words[at].lower() if at < len(words) else ""
    return word in _AUXILIARIES or (word in _FINITE and (not at or words[at - 1].lower() not in _NO_VERB_AFTER))


def _third(base: str) -> str:
    """The form of a verb after "he"."""
    if base[-1] == "y" and base[-2] not in "aeou":
        return base[:-1] + "ies"
    return {"have": "has"}.get(base) or base + ("es" if base.endswith(("s", "x", "z", "sh", "ch", "o")) else "s")


_FINITE = {*_PAST.values(), *map(_third, _PAST)}
_NOUN_FORMS = {*map(_third, _NOUNS), *table("words")["nouns, too"]}


def _in_order(aux: str, text: str) -> _Clause | None:
    """What stands behind "did", "is", "has" or "can" as a statement, or None where no verb is found."""
    words, place = text.split(), 0
    if aux not in _DO and words[0].lower() in _PARTICIPLES | {*_PAST, "been", "more"}:  # the answer is the subject
        return None
    for at in range(1, len(words)):
        word = words[at].lower()
        before = words[at - 2 if words[at - 1] == "first" else at - 1].lower()
        if place and word in _NO_VERB_AFTER:
            break
        fits = word in _PARTICIPLES or (word.endswith("ed") and len(word) > 4) if aux in _BE | _HAVE else word in _PAST
        if fits and words[at][0].islower() and before not in _NO_VERB_AFTER and not before.endswith(("'s", "’s")):
            place = at
            if word not in _NOUNS:
                break
    if not place or (words[place] == "do" and aux in _DO):
        return None
    base = words[place].lower()
    start = place - (place > 1 and (words[place - 1].endswith("ly") or words[place - 1] in ("first", "also", "being")))
    form = {"did": _PAST.get(base, ""), "does": _third(base), "do": base}.get(aux)
    verb = [*words[start:place], form] if form else [aux, *words[start : place + 1]]
    return _Clause(" ".join(words[:start]), " ".join(verb), " ".join(words[place + 1 :]), base)


def _adverb(verb: str, text: str, clause: _Clause | None, phrase: str | None) -> str | None:
    """A clause with the answer as where or when it happens."""
    if not phrase or (clause and clause.base in _WITH_CLAUSE):
        return None
    if clause and not re.match("the (?:last|first|next) time ", text):
        return f"{clause.subject} {clause.verb} {re.sub(r'(^| )(in|on|at)$', '', clause.rest)} {phrase}"
    return f"{text} {verb} {phrase}" if verb in _BE and len(text.split()) < 9 else None


def _counted(noun: str, verb: str, text: str, clause: _Clause | None, number: str) -> str | None:
    """An answer to "how many"."""
    one, answer = number.lower() in ("1", "one"), f"{number} {noun}"
    if text.startswith("there "):
        return f"there {verb} {answer} {text[6:]}"
    if clause and verb not in _BE:
        if _LASTING.fullmatch(noun) and clause.base not in ("last", "take", "spend", "have"):
            bare = "times" in noun or " after " in noun or " before " in noun
            return f"{clause.subject} {clause.verb} {clause.rest} {'' if bare else 'for '}{answer}"
        return _as_object(clause, answer.removesuffix("s") if one else answer)
    if verb in _BE and not _goes_on(text):
        return f"{text} {verb} {answer}" if " " not in noun else None
    return None if one else _as_subject(verb, text, answer)


def _as_object(clause: _Clause, answer: str) -> str | None:
    subject, verb, rest, base = clause
    first, _, more = rest.partition(" ")
    if base in _WITH_CLAUSE:
        return None
    if first in _PREPOSITIONS and (not more or more.split()[0] in _PREPOSITIONS):
        return f"{subject} {verb} {first} {answer} {more}"  # the preposition waits for the answer
    if (rest and rest.split()[-1] in _PREPOSITIONS) or base in ("called", "named"):
        return f"{subject} {verb} {rest} {answer}"
    goes_on = not rest or first in _PREPOSITIONS | {"when", "while", "because", "first", "together", "instead"}
    return f"{subject} {verb} {answer} {rest}" if goes_on and base not in _ALONE else None


def _as_subject(verb: str, text: str, answer: str) -> str | None:
    before, _, last = text.rpartition(" ")
    if last in _PREPOSITIONS and verb in _BE and before:
        return f"{before} {verb} {last} {answer}"
    if last in _PREPOSITIONS or verb in _DO or verb in ("happened", "happens"):
        return None
    several = bool(re.search(r", | and | & ", answer))
    agrees = several or answer.endswith("s") if verb in ("are", "were") else not (several and verb in _BE | {"has"})
    return f"{answer} {verb} {text}" if agrees or answer[0].isdigit() else None


def _goes_on(text: str) -> bool:
    """Whether words after "is" do not begin with a subject."""
    word = text.split()[0].lower()
    return word in _PARTICIPLES | _PREPOSITIONS | {"not"} or (word.endswith("ed") and len(word) > 4)


def _dated(answer: str) -> str | None:
    """A time with its preposition: "in 1945", "on 14 March 1879"; None for what is not a time."""
    low = answer.lower()
    if re.match(r"(in|on|at|by|from|since|between|during|after|before|around|until|about|every)\b", low):
        return answer[0].lower() + answer[1:]
    if re.search(rf"\b({_MONTHS})\b.* \d\d?(st|nd|rd|th)?(,|$)|\b\d\d?(st|nd|rd|th)?( of)? ({_MONTHS})\b|day\b", low):
        return f"on {answer}"
    if re.search(r"\d:\d\d|\d ?[ap]\.?m\b|noon|midnight", low):
        return f"at {answer}"
    return f"in {answer}" if re.search(rf"^\D*\b\d{{3,4}}\b|\b({_MONTHS})\b|century|\bbce?\b", low) else None


def _placed(answer: str, prep: str) -> str:
    """A place with its preposition."""
    return answer if answer.split()[0].lower() in _PREPOSITIONS else f"{prep.lower()} {answer}"
