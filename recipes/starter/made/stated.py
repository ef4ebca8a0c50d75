"""An answer as a whole sentence, made from its question by rules: "The capital of Peru is Lima."

A rule is a pattern of a question and what fills it. The hard part is to turn "did the war end" into "the war ended": it
needs the verb, which is found in a table. The first pattern that fits decides; where it cannot be filled, there is no
sentence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

IRREGULAR = """be was been;become became become;begin began begun;bear bore born;beat beat beaten;break broke broken;
bring brought brought;build built built;buy bought bought;catch caught caught;choose chose chosen;come came
come;cost cost cost;cut cut cut;deal dealt dealt;do did done;draw drew drawn;drink drank drunk;drive drove
driven;eat ate eaten;fall fell fallen;feel felt felt;fight fought fought;find found found;flee fled fled;fly
flew flown;forbid forbade forbidden;forget forgot forgotten;get got got;give gave given;go went gone;grow grew
grown;have had had;hear heard heard;hide hid hidden;hit hit hit;hold held held;keep kept kept;know knew
known;lay laid laid;lead led led;leave left left;lend lent lent;lose lost lost;make made made;mean meant
meant;meet met met;pay paid paid;put put put;read read read;ride rode ridden;rise rose risen;run ran run;say
said said;see saw seen;seek sought sought;sell sold sold;send sent sent;set set set;shoot shot shot;show
showed shown;shut shut shut;sing sang sung;sink sank sunk;sit sat sat;sleep slept slept;speak spoke
spoken;spend spent spent;spread spread spread;stand stood stood;steal stole stolen;strike struck struck;swim
swam swum;take took taken;teach taught taught;tell told told;think thought thought;throw threw
thrown;understand understood understood;wear wore worn;win won won;write wrote written;overthrow overthrew
overthrown;withdraw withdrew withdrawn;undergo underwent undergone;arise arose arisen;split split split;feed
fed fed;oversee oversaw overseen;undertake undertook undertaken;retell retold retold;wake woke woken;freeze
froze frozen;swear swore sworn;bind bound bound;shake shook shaken"""

REGULAR = """abandon abolish absorb accept accompany accomplish accumulate accuse achieve acquire act add address admit
adopt advocate affect age agree aim air allow announce appear apply appoint approve argue arrive ask
assassinate assist assume attack attempt attend avoid award ban base belong bomb burn call cancel capture
carry cause celebrate change charge claim climb close coach collaborate collapse collect colonize combine
commission commit compare compete compile complete compose concentrate conclude condemn conduct connect
conquer consist construct consume contain continue contract contribute control convert correlate cover crash
create criticize cross crown debut decide declare decline decrease defeat defend define deliver demand
demolish deny depend describe design destroy determine develop die differ direct discourage discover discuss
dismiss dissolve divide donate draft drop earn elect embrace emerge emphasize employ enable encourage end
endorse enhance enjoy ensure enter equal escape establish evolve exceed execute exist expand expect expel
experience explain exploit explore express extend face fail feature finish fire fit flow focus follow force
form found fund gain gather generate govern graduate grant guarantee handle happen hate help hire host hunt
identify impact implement import imprison improve include incorporate increase influence inhabit inherit
initiate injure insist inspect inspire install intend introduce invade invent invest investigate involve
isolate issue join kick kidnap kill lack land last launch learn like link list live locate look love lower
maintain manage march marry measure merge migrate mine miss mix model move murder name need nominate notice
object observe obtain occupy occur offer open operate oppose orbit order organize originate outlaw overcome
own paint participate pass patent perform permit persuade pitch place plan plant play portray possess practice
predict prefer premiere prevent print produce prohibit promote prompt propose protect prove provide publicize
publish purchase pursue push qualify question raise rank rate ratify reach react realize rebel receive reclaim
recognize recommend record recover recruit reduce refer reflect refuse regain regard reign reject release rely
remain remove rename repeal replace report represent require rescue reside resign resolve respond restore
restrict result resume retire return reveal revolt rock rule sack sail score secede secure seize select
sentence separate serve settle share sign signify sleep span specialize sponsor star start state stay stop
store study subscribe succeed sue suffer suggest supply support surf surrender survive suspend switch
symbolize talk tend terminate tie total tour trace trade train transfer transform translate travel treat
trigger triple try turn unify unite use vary view visit vote vow wait walk want warn wed weigh witness wonder
work worry worship yield count legislate"""

DOUBLING = set("ban control expel star span drop plan stop commit admit refer occur prefer transfer permit".split())
NOUNS = set(
    """act address aim air attack award base bear burn call cause change charge claim coach contract control cost
cover crash cross cut deal demand design draft drive drop end estimate experience face fall feature fight
finish fire fit flow focus force form fund help hit host hunt impact import influence issue lack land last
launch lead like link list love march measure mine mix model move murder name need object order pass patent
pay pitch place plan plant play practice premiere print prompt purchase push question rank rate read record
report rescue result return revolt ride rise rule run sack sail score sentence share show sign span stand star
start state stop store strike study supply support switch talk tie total tour trade train transfer travel
treat turn use value view visit vote wait walk witness work yield fly count""".split()
)


def _past(base: str) -> str:
    """The regular past of a verb."""
    if base.endswith("e"):
        return base + "d"
    if base[-1] == "y" and base[-2] not in "aeou":
        return base[:-1] + "ied"
    return base + base[-1] * (base in DOUBLING) + "ed"


def _third(base: str) -> str:
    """The form of a verb after "he"."""
    if base in ("be", "have"):
        return {"be": "is", "have": "has"}[base]
    if base[-1] == "y" and base[-2] not in "aeou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "sh", "ch", "o")) else "s")


def _gerund(base: str) -> str:
    """The form of a verb in -ing."""
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    return stem + stem[-1] * (base in DOUBLING | {"run", "win", "get", "cut"}) + "ing"


_FORMS = [(line.split()[0], line.split()[1], line.split()[2]) for line in IRREGULAR.split(";")]
PAST = {base: past for base, past, _ in _FORMS} | {base: _past(base) for base in REGULAR.split()}
PARTICIPLES = {part for _, _, part in _FORMS} - set("read set cut hit put run come become cost spread left led".split())
PARTICIPLES |= set(
    "able available famous located complete notable due responsible similar visible legal run set left led put".split()
)
GERUNDS = {_gerund(base) for base in PAST} - set(
    """being building meaning opening ending setting meeting feeling
beginning painting spring king ring landing recording training writing reading ruling saying finding showing""".split()
)
FINITE = set(PAST.values()) | {_third(base) for base in PAST}
NOT_PARTICIPLES = set(
    "united red bed hundred need seed speed feed shed sacred breed indeed unprecedented limited".split()
)
AUX = "did|does|do|is|are|was|were|has|have|had|can|could|will|would|should|may|might|must"
BE = {"is", "are", "was", "were"}
AUXILIARIES = set(AUX.split("|"))
PREPOSITIONS = set(
    """of in on at by for from to with about against as into through under over after between among near toward
towards upon onto across around within behind than like along throughout during without off out up down away""".split()
)
PARTICLES = {"up", "out", "off", "down", "away", "over", "back"}
BLOCK = PREPOSITIONS - PARTICLES | set(
    """the a an his her its their our my your this these those that who which what when where to and or no not most
first second third last next new every all some any each two three four five six one own main former very more
world's""".split()
)
CHAIN = set(
    "want try need plan hope attempt decide agree begin like refuse wish intend seem choose fail continue start".split()
)
WITH_TO = set("use create build write develop introduce pass give offer form establish used".split())
ALONE = set("appear occur happen die arrive live exist belong emerge arise go come reside travel rely consist".split())
VAGUE = set(
    """type kind sort nationality profession occupation occupations job jobs position role effect impact
influence way order rate level amount extent""".split()
)
AMOUNTS = {"more", "most", "fewer", "fewest", "less", "least", "a", "an", "no", "only", "higher", "over"}
ADVERBS = {"first", "also", "now", "being", "ever", "still", "always", "often", "only", "sometimes"}
CLAUSE = set(
    "think believe say claim argue state suggest find know happen do feel help see show mean explain let".split()
)


class _Clause(NamedTuple):
    """A question's inverted half, straightened: "did the war end in Europe" as "the war", "ended", "in Europe"."""

    subject: str
    base: str
    verb: str
    rest: str


def _verb_at(words: list[str], verbs: set[str] | dict[str, str]) -> int:
    """The place of the main verb in words that begin with the subject, or 0."""
    place = 0
    for at in range(1, len(words)):
        word = words[at].lower()
        if place and (word in BLOCK or words[at - 1][-1] in ",:;"):
            break
        before = words[at - 1].lower()
        if word in NOUNS and words[at + 1 : at + 2] == ["of"]:
            continue
        if word == "last" and at + 1 < len(words) and words[at + 1].lower() not in FOLLOWERS:
            continue
        if word in verbs and before not in BLOCK and not before.endswith(("'s", "s'", "’s")):
            place = at
            if word not in NOUNS:
                break
    end = words[-1].lower()
    if place and words[place] in NOUNS and end in verbs and end not in NOUNS and words[-2].lower() not in BLOCK:
        place = len(words) - 1
    words = words[: place + 1]
    far = words[-1] in NOUNS and words[0].lower() not in BLOCK and {"in", "at", "on", "to", "from"} & set(words)
    return 0 if far else place


def _straight(aux: str, text: str) -> _Clause | None:
    """The clause behind "did", "is", "has", "can" in the order of a statement, or None where no verb is found."""
    words = text.split()
    if len(words) < 2 or {"not", "never", "n't"} & set(words):
        return None
    if aux in BE or aux in ("has", "have", "had"):
        low = [word.lower() for word in words]
        places = [
            at
            for at in range(1, len(words))
            if _participle(aux, low[at])
            and (low[at - 1] not in BLOCK or (low[at - 1] == "first" and at > 1 and low[at - 2] not in BLOCK))
        ]
        if aux in BE and places and words[places[0]].lower() in GERUNDS and PREPOSITIONS & set(words[: places[0]]):
            places = []
        at = places[0] if places else 0
        if len(places) > 1 and places[-1] + 1 == len(words):
            at = places[-1]
        start = at
        while start > 1 and (words[start - 1].endswith("ly") or words[start - 1] in ADVERBS):
            start -= 1
        verb, base = f"{aux} {' '.join(words[start : at + 1])}", words[at]
    else:
        at = start = _verb_at(words, PAST)
        base = words[at].lower()
        if not at:
            return None
        verb = {"did": PAST[base], "does": _third(base), "do": base}.get(aux, f"{aux} {base}")
    if words[start - 1].lower() in AUXILIARIES or base == "been":
        return None
    if not at or {"and", "who", "who's", "whose", "where", "that", "which"} & set(words[at + 1 : at + 2]):
        return None
    if base == "do" and aux in ("did", "does", "do"):
        return None
    return _Clause(" ".join(words[:start]), base, verb, " ".join(words[at + 1 :]))


def _participle(aux: str, word: str) -> bool:
    """Whether a word goes with "is" or "has" as the verb."""
    word = word.lower()
    regular = word.endswith("ed") and len(word) > 3 and word not in NOT_PARTICIPLES
    return regular or word in PARTICIPLES or (aux in BE and word in GERUNDS)


def _ends_loose(text: str) -> bool:
    """Whether a text ends in a preposition, as in "the paper it was published in"."""
    return text.rsplit(" ", 1)[-1].lower() in PREPOSITIONS


def _dated(answer: str) -> str | None:
    """A time with its preposition: "in 1945", "on 14 March 1879"; None for what is no time."""
    low = answer.lower()
    if re.match(r"(in|on|at|by|from|since|between|during|after|before|around|until|about|every|late|early|mid)\b", low):
        return re.sub(r"^((?:late|early|mid)\b|mid-)", r"in \1", answer[0].lower() + answer[1:])
    if re.search(
        rf"\b({MONTHS})\b.* \d{{1,2}}(st|nd|rd|th)?(,|$)|\b\d{{1,2}}(st|nd|rd|th)?( of)? ({MONTHS})\b|day\b", low
    ):
        return f"on {answer}"
    if re.search(r"\d:\d\d|\d ?[ap]\.?m\b|\b(noon|midnight)\b", low):
        return f"at {answer}"
    if re.search(
        rf"^(the |summer |winter |spring |autumn |fall )*(of )?(c\. ?)?\d{{3,4}}\b|\b({MONTHS})\b|century|\bbce?\b", low
    ):
        return f"in {answer}"
    return None


def _placed(answer: str) -> str:
    """A place with its preposition."""
    return answer if answer.split()[0].lower() in PREPOSITIONS | {"along", "outside"} else f"in {answer}"


def _said(clause: _Clause | None, answer: str) -> str | None:
    """A straightened clause with the answer as its object, or after the preposition that waits for it."""
    if clause is None or clause.base in CLAUSE:
        return None
    subject, base, verb, rest = clause
    words = rest.split()
    if words and words[0] == "to" and len(words) > 1 and words[1] in PAST and base not in WITH_TO:
        if base not in CHAIN:
            return None
        verb, words = f"{verb} to {words[1]}", words[2:]
        if verb.split()[-1] in ("do", "be"):
            return None
    if words and words[0] in PARTICLES:
        verb, words = f"{verb} {words[0]}", words[1:]
    if words and words[0] in PREPOSITIONS and (len(words) == 1 or words[1] in PREPOSITIONS | {"last", "this"}):
        verb, words = f"{verb} {words[0]}", words[1:]
        if words and words[0] in ("that", "which", "who"):
            return None
    elif base in ALONE:
        return None
    if words and _ends_loose(rest) and words[-1] not in PARTICLES:
        return f"{subject} {verb} {' '.join(words)} {answer}"
    if base in ("call", "name", "called", "named"):
        return f"{subject} {verb} {' '.join(words)} {answer}"
    if words and words[0].lower() not in FOLLOWERS and not words[0].endswith("ly"):
        return None
    return f"{subject} {verb} {answer} {' '.join(words)}"


def _be(aux: str, text: str, answer: str, turned: bool) -> str | None:
    """A sentence with "is": the answer as its subject, or (turned) as what the subject is."""
    words = text.split()
    if _participle(aux, words[0]) or words[0] in PREPOSITIONS:
        return None if _ends_loose(text) else _first(answer, f"{aux} {text}")
    clause = None if {"that", "who", "which", "whose"} & set(words) else _straight(aux, text)
    if clause and words[0] not in BLOCK and turned and clause.verb.split()[-1] in GERUNDS:
        return None
    if turned and (LEFT_OPEN.search(text) or words[0] == "both"):
        return None
    if aux == "are" and turned and re.search(rf"\b({WORDS}|\d)\b", text) and not re.search(",| and ", answer):
        return None
    if _ends_loose(text) and not ("that" in words or "which" in words):
        if clause:
            return _said(clause, answer)
        if text.endswith(" part of"):
            return f"{text[:-8]} {aux} part of {answer}"
        before, _, prep = text.rpartition(" ")
        return f"{before} {aux} {prep} {answer}" if prep in ("in", "on", "at", "from", "about") else None
    if clause and (clause.base in "called named considered known titled".split() or clause.rest in ("as", "like")):
        return _said(clause, answer)
    if turned:
        return None if clause and not clause.rest else f"{text} {aux} {answer}"
    return _first(answer, f"{aux} {text}")


def _first(answer: str, text: str) -> str | None:
    """The answer as the subject of a sentence, where the number of the verb allows it."""
    verb = text.split()[0].lower()
    several = bool(re.search(r", | and | & ", answer)) or (
        (answer.islower() or " " not in answer) and bool(re.search(r"[^sui']s$|people$", answer))
    )
    if several and (verb in ("is", "was", "has", "does") or (verb in THIRD)):
        return None
    if not several and verb in ("are", "were") and not answer.endswith("s"):
        return None
    return f"{answer} {text}"


def _finite_at(words: list[str]) -> int:
    """The place of the finite verb behind a noun phrase, or 0."""
    for at in range(1, len(words)):
        word = words[at].lower()
        if word in AUXILIARIES:
            return at
        if word in ("that", "who", "which", "whose", "where", "when", "to", "what") or words[at - 1].endswith(","):
            return 0
        if word in FINITE and words[at - 1].lower() not in BLOCK:
            later = [w.lower() for w in words[at + 1 :]]
            if word in NOUN_FORMS and (AUXILIARIES & set(later) or FINITE & set(later[:1])):
                continue
            if {"did", "does", "do"} & set(later[:4]):
                continue
            if later and later[0] in PREPOSITIONS and (AUXILIARIES | FINITE) & set(later):
                return 0
            return 0 if later[:1] == ["by"] else at
    return 0


def _which(found: re.Match[str], answer: str) -> str | None:
    """ "Which planet is largest", "what prize did she win"."""
    words = found["text"].split()
    if words[0] in ("percentage", "percent", "fraction", "proportion", "share", "portion") and words[1:2] == ["of"]:
        at = _finite_at(words)
        if re.fullmatch(r"\d[\d.]*", answer):
            answer += "%"
        return f"{answer} {' '.join(words[1:])}" if at and words[at] not in ("did", "do", "does") else None
    if (
        len(words) > 1
        and words[0] in FINITE - NOUN_FORMS
        and (words[0][-1] == "s" or words[1] in BLOCK | PREPOSITIONS or words[0] == "helped")
    ):
        return None if words[0] in ("happened", "happens") or _ends_loose(words[-1]) else _first(answer, found["text"])
    at = _finite_at(words)
    if not at or at + 1 == len(words) or words[at - 1].endswith(("'s", "’s")) or "'s" in " ".join(words[:at]):
        return None
    aux, text, ahead = words[at].lower(), " ".join(words[at + 1 :]), words[at + 1]
    if aux in ("did", "do", "does"):
        if words[0].rstrip("s") in ("type", "kind", "sort") and re.search(
            r"(?:ic|al|ive|ous|ary|ed|an)$|^\S+[^s]$", answer
        ):
            return None
        return None if (VAGUE - KINDS) & set(words[:at]) else _said(_straight(aux, text), answer)
    if aux in BE:
        if words[0] in ("type", "kind", "sort") and len(text.split()) == 1:
            return f"{text} {aux} {answer}"
        if words[0] in ("type", "kind", "sort") and not _participle(aux, ahead) and ahead not in BLOCK:
            return None
        if words[0] in KINDS and (words[0] not in ("type", "kind", "sort") or ahead in BLOCK or ahead[0].isupper()):
            return _be(aux, text, answer, True)
        if ahead[0].isupper() and not _ends_loose(text):
            return None
        return _be(aux, text, answer, False)
    if aux in AUXILIARIES and ahead not in PAST and not _participle(aux, ahead) and not re.match("[a-z]+ly$", ahead):
        if aux in ("has", "have", "had") and (ahead in AMOUNTS or not (clause := _straight(aux, text))):
            return _first(answer, f"{aux} {text}")
        return _said(clause if aux in ("has", "have", "had") else _straight(aux, text), answer)
    return None if _ends_loose(text) else _first(answer, f"{aux} {text}")


def _who(found: re.Match[str], answer: str) -> str | None:
    """ "Who wrote Emma", "what did Fleming discover", "what is the capital"."""
    wh, aux, text = found["wh"].lower(), found["aux"].lower(), found["text"]
    if aux in BE:
        turned = wh == "what" or re.match(r"an? |[a-z]", answer) is not None
        return _be(aux, text, answer, turned)
    if aux in ("did", "do", "does"):
        return _said(_straight(aux, text), answer)
    if aux in AUXILIARIES:
        ahead = text.split()[0].lower()
        if aux in ("has", "have", "had"):
            clause = None if ahead in PAST or ahead in AMOUNTS or _participle(aux, ahead) else _straight(aux, text)
            return _said(clause, answer) if clause else _first(answer, f"{aux} {text}")
        return _first(answer, f"{aux} {text}") if ahead in PAST else _said(_straight(aux, text), answer)
    if aux not in FINITE or (wh == "what" and aux in ("happened", "happens")) or _ends_loose(text):
        return None
    return _first(answer, f"{aux} {text}")


def _when(found: re.Match[str], answer: str) -> str | None:
    """ "When did the war end", "in which year was she born"."""
    time = _dated(answer)
    if (
        time
        and found.re.groupindex.get("prep")
        and found["prep"]
        and found["prep"].strip().lower() in ("by", "since", "until")
    ):
        time = f"{found['prep'].strip().lower()} {answer}"
    return _adverb(found, time)


def _adverb(found: re.Match[str], phrase: str | None) -> str | None:
    """A clause with the answer as where or when it happens."""
    aux, text = found["aux"].lower(), found["text"]
    if phrase is None:
        return None
    if re.match(r"the (?:last|first|next|only) time ", text):
        return f"{text} {aux} {phrase}" if aux in BE else None
    clause = _straight(aux, text)
    if clause:
        rest = re.sub(r"(^| )(in|on|at)$", "", clause.rest)
        if clause.base in CLAUSE or (_ends_loose(rest) and not rest.endswith(tuple(PARTICLES))):
            return None
        return f"{clause.subject} {clause.verb} {rest} {phrase}"
    if aux in BE and len(text.split()) < 9 and not any(_participle(aux, word) for word in text.split()):
        return f"{re.sub(r' (in|on|at)$', '', text)} {aux} {phrase}"
    return None


def _where(found: re.Match[str], answer: str) -> str | None:
    """ "Where is the Louvre", "where did he go"."""
    clause = _straight(found["aux"].lower(), found["text"])
    if _ends_loose(found["text"]):
        text, _, prep = found["text"].rpartition(" ")
        if prep.lower() not in ("from", "to", "at", "in", "near"):
            return None
        if clause:
            return _said(clause, answer)
        return f"{text} {found['aux'].lower()} {prep} {answer}" if found["aux"].lower() in BE else None
    if clause and clause.base in "go move travel flee return migrate sent".split() and _placed(answer) != answer:
        return f"{clause.subject} {clause.verb} {clause.rest} to {answer}"
    return _adverb(found, _placed(answer))


def _at_what(found: re.Match[str], answer: str) -> str | None:
    """ "In which country is it", "to whom did he write"."""
    words = found["text"].split()
    at = next((i for i, w in enumerate(words) if w.lower() in AUXILIARIES), -1)
    if at < 0 or at + 1 == len(words):
        return None
    prep = found["prep"].lower()
    phrase = answer if answer.split()[0].lower() in PREPOSITIONS else f"{prep} {answer}"
    aux, text = words[at].lower(), " ".join(words[at + 1 :])
    if (
        _participle(aux, words[at + 1])
        or _ends_loose(text)
        or {"purpose", "reason", "reasons", "way", "order"} & set(words[:at])
    ):
        return None
    clause = _straight(aux, text)
    if clause:
        return f"{clause.subject} {clause.verb} {clause.rest} {phrase}" if clause.base not in CLAUSE else None
    return f"{text} {aux} {phrase}" if aux in BE and prep in ("in", "on", "at") and len(text.split()) < 7 else None


def _counted(answer: str, noun: str, plain: bool) -> str | None:
    """A number with what is counted, or None for what is no number."""
    if not re.match(NUMBER, answer, re.IGNORECASE):
        return None
    last = noun.split()[-1]
    if answer.lower() in ("1", "one") and not last.endswith("s") and re.search(r"s\b", noun):
        return None
    if re.search(rf"\b{re.escape(last.rstrip('s'))}", answer, re.IGNORECASE):
        return answer
    if not re.fullmatch(NUMBERS, answer, re.IGNORECASE):
        return None
    if answer.lower() in ("1", "one") and last.endswith("s"):
        return f"{answer} {noun[:-1]}" if plain and " of " not in noun and not last.endswith("ies") else None
    return f"{answer} {noun}"


def _how_many(found: re.Match[str], answer: str) -> str | None:
    """ "How many legs does a spider have"."""
    words = found["text"].split()
    at = _finite_at(words)
    if not at or at + 1 == len(words) or words[0] in PREPOSITIONS:
        return None
    if words[1] in ("after", "before"):
        at = max(i for i, w in enumerate(words) if w.lower() in AUXILIARIES or not i)
        clause, many = _straight(words[at].lower(), " ".join(words[at + 1 :])), _counted(answer, words[0], True)
        span = " ".join(words[1:at])
        return f"{clause.subject} {clause.verb} {clause.rest} {many} {span}" if clause and many and at > 2 else None
    aux, noun, text, ahead = words[at].lower(), " ".join(words[:at]), " ".join(words[at + 1 :]), words[at + 1].lower()
    if aux in ("did", "do", "does") or (
        aux in ("has", "have", "had", "can") and (ahead not in PAST and not _participle(aux, ahead))
    ):
        clause, many = _straight(aux, text), _counted(answer, noun, True)
        if clause and many and re.match(r"(times|years|days|months|weeks|hours|minutes)$", words[at - 1]):
            if clause.base in ("last", "take", "span", "spend", "have", "get"):
                return _said(clause, many)
            if words[at - 1] != "times":
                many = f"for {many}"
            return f"{clause.subject} {clause.verb} {clause.rest} {many}"
        if aux in ("has", "have", "had") and clause and clause.base == "been":
            return None
        if aux in ("has", "have", "had") and not clause:
            many = _counted(answer, noun, False)
            return (many and not noun.endswith("times") and f"{many} {aux} {text}") or None
        return many and _said(clause, many)
    many = _counted(answer, noun, False)
    if not many:
        return None
    if ahead == "there":
        return f"There {aux} {many} {' '.join(words[at + 2 :])}"
    if ahead in ("it", "he", "she", "they"):
        return None
    if aux in BE and not (_participle(aux, ahead) or ahead in PREPOSITIONS or ahead in ("not", "considered", "needed")):
        if ahead in BLOCK and words[at - 1] in UNITS and not _straight(aux, text):
            return f"{text} {aux} {many}"
        return None if ahead in BLOCK or words[at + 1][0].isupper() else f"{many} {aux} {text}"
    return None if _ends_loose(text) else f"{many} {aux} {text}"


def _how_much(found: re.Match[str], answer: str) -> str | None:
    """ "How much does it cost", "how much money was raised"."""
    aux, text, noun = found["aux"].lower(), found["text"], found["noun"] or ""
    if not re.match(NUMBER, answer, re.IGNORECASE):
        return None
    many = f"{answer} {noun}" if noun.startswith("of ") else answer
    if aux in ("did", "do", "does"):
        return _said(_straight(aux, text), many)
    if aux in BE and not noun:
        return f"{text} {aux} {many}"
    return f"{many} {aux} {text}" if noun and aux in ("is", "was") and _participle(aux, text.split()[0]) else None


def _how_long(found: re.Match[str], answer: str) -> str | None:
    """ "How long did it last", "how old was she when she died"."""
    how, aux, text = found["how"].lower(), found["aux"].lower(), found["text"]
    if not re.match(NUMBER, answer, re.IGNORECASE):
        return None
    if aux in BE:
        if re.fullmatch(NUMBERS, answer, re.IGNORECASE):
            if how != "old":
                return None
            answer += " years"
        if not re.search(MEASURES, answer):
            return None
        subject, when, rest = text.partition(" when ")
        if _straight(aux, subject):
            return None
        return f"{subject} {aux} {answer.removesuffix(' old')} {how}{when}{rest}"
    clause = _straight(aux, text)
    if clause is None or how != "long" or re.fullmatch(NUMBERS, answer, re.IGNORECASE):
        return None
    if clause.base in ("last", "take", "run", "spend", "serve", "live", "stay"):
        return f"{clause.subject} {clause.verb} {answer} {clause.rest}" if clause.base in ("last", "take") else None
    return f"{clause.subject} {clause.verb} {clause.rest} for {answer.removeprefix('for ')}"


def _because(found: re.Match[str], answer: str) -> str | None:
    """ "How did it spread" and "why did he leave", where the answer says by what or because of what."""
    clause = _straight(found["aux"].lower(), found["text"])
    fits = re.match(r"(by|through|with|because|due to|to [a-z]+|in order) ", answer)
    if clause is None or clause.base in CLAUSE or not fits:
        return None
    return f"{clause.subject} {clause.verb} {clause.rest} {answer}"


def _find(found: re.Match[str], answer: str) -> str | None:
    """ "Name the largest planet"."""
    head = re.split(r" (?:of|that|who|which|in|for|with|such|from|to)\b", found["text"])[0]
    if re.search(r"^the (two|three|four|five|\d)\b", head) and not re.search(",| and ", answer):
        return None
    plural = re.search(r"[^sui]s$|^the (two|three|four|five)\b", head) is not None
    return f"{found['text']} {'are' if plural else 'is'} {answer}"


def _yes_no(found: re.Match[str], answer: str) -> str | None:
    """ "Is there a moon", "can you swim there", "did the war end"."""
    aux, text, no = found["aux"].lower(), found["text"], answer.lower() == "no"
    if re.search(r"\b(?:or|ever|still|even|already|actually|both|only|always|any\w*)\b", text):
        return None
    subject, _, rest = text.partition(" ")
    if subject.lower() == "there":
        rest, changed = re.subn(r"^(?:an?|any) ", "no ", rest) if no else (rest, 1)
        return f"there {aux} {rest}" if changed else None
    if subject.lower() not in ("it", "they", "he", "she", "you", "we"):
        clause = _straight(aux, text)
        if clause is None or clause.subject.endswith("ly"):
            return None
        base = clause.base if aux in ("did", "do", "does") else clause.verb.removeprefix(f"{aux} ")
        subject, rest = clause.subject, f"{base} {clause.rest}"
    return f"{subject} {aux}{' not' * no} {rest}".replace("can not", "cannot")


def _in_place(found: re.Match[str], answer: str) -> str | None:
    """ "The book was written by which author", "the film was shot in what city"."""
    before, after = found["before"], found["after"].split()
    if re.search(r"['’]s?\b", found["after"]):
        return None
    if not any(w in AUXILIARIES or w in FINITE for w in before.lower().split()):
        return None
    at = next((i for i, w in enumerate(after) if w in AUXILIARIES or w in FINITE), len(after))
    if VAGUE & set(after[:3]):
        return None
    if {"nation", "country"} & set(after) and re.search("(ican|ian|ish|ese|rench|erman|reek)$", answer):
        return None
    if at < len(after) and not {"that", "who", "which", "whose"} & set(after[:at]):
        return None
    if {before.rsplit(" ", 1)[-1], answer.split()[0]} <= PREPOSITIONS:
        return None
    return f"{before} {answer}"


LEFT_OPEN = re.compile(
    r", (?:who|which|whose|a|an|the|that)\b|\b(?:of|in|on|at|by|for|from|to|with|about|as)"
    r" (?:when|while|after|before|if|during|in|by|on|at|with)\b"
)
MEASURES = r"(year|month|week|day|hour|minute|second|met(er|re)|mile|feet|foot|inch|yard|ft|[ckm]?m)s?( old)?$"
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
DIGITS = r"\$?£?€?\d[\d,.]*%?(?: (?:hundred|thousand|million|billion|trillion|percent|dollars))*"
WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundreds|thousands"
ABOUT = r"(?:(?:about|around|over|at (?:least|most)|up to|nearly|almost|approximately|(?:more|less) than|only) )?"
NUMBER = rf"{ABOUT}(?:{DIGITS}|{WORDS}|half|a (?:third|quarter|half))(?![\w:-])"
NUMBERS = rf"{ABOUT}(?:{DIGITS}|(?:{WORDS})(?:[ -](?:{WORDS}|hundred|thousand|million))*)"
THIRD = {_third(base) for base in PAST}
NOUN_FORMS = {_third(base) for base in NOUNS} | set("found named called based made used led left set cut put".split())
KINDS = set("type kind sort color colour nationality size profession occupation genre religion".split())
UNITS = set("yards years feet miles meters metres minutes hours days points percent inches".split())
FOLLOWERS = PREPOSITIONS | set("to when while because after before during first together instead that's".split())
TIMES = r"(?:(?:exact|calendar|specific) )?(?:year|date|day|month|century|decade|season|time|time period)"
RULES = [
    (re.compile(pattern, re.IGNORECASE), fill)
    for pattern, fill in (
        (rf"when (?P<aux>{AUX}) (?P<text>.+)", _when),
        (rf"(?P<prep>(?:in|on|by|during|since|until) )?(?:what|which) {TIMES} (?P<aux>{AUX}) (?P<text>.+)", _when),
        (rf"where (?P<aux>{AUX}) (?P<text>.+)", _where),
        (
            (
                r"(?P<prep>in|on|at|to|from|by|with|for|of|under|through|against|into|about) "
                r"(?:what|which|whom)\b(?P<text>.+)"
            ),
            _at_what,
        ),
        (r"how many (?P<text>.+)", _how_many),
        (rf"how much (?P<noun>of .+?|money|time|weight|[a-z]+)?? ?(?P<aux>{AUX}) (?P<text>.+)", _how_much),
        (rf"how (?P<how>long|tall|high|deep|wide|old) (?P<aux>{AUX}) (?P<text>.+)", _how_long),
        (rf"(?:how|why) (?P<aux>{AUX}) (?P<text>.+)", _because),
        (rf"(?P<wh>what|which|whom) (?P<aux>{AUX}) (?P<text>.+)", _who),
        (r"(?P<wh>who) (?P<aux>\S+) (?P<text>.+)", _who),
        (r"(?:what|which) (?P<text>.+)", _which),
        (rf"(?P<aux>{AUX}) (?P<text>.+)", _yes_no),
        (r"(?:find|compute|determine|calculate|evaluate|name|state|give|identify) (?P<text>the .+)", _find),
        (r"(?P<before>(?!how|who|what|which|when|where|why).*[^,]) (?:what|which|whom)\b(?P<after>[^,]*)", _in_place),
    )
]

SHORT = re.compile(r"^(who|what|where|when|how)(?:'s|’s) ", re.IGNORECASE)
AHEAD = re.compile(
    r"((?:according to|in|during|after|before|as of|on|at|by|if|given that|when|for|under|between|from|since|while)"
    r" [^?]*?), "
    r"((?:who|what|which|when|where|how|name|find|in what|in which) .+)",
    re.IGNORECASE,
)
EITHER = re.compile(r"((?:who|what|which) .+?)(?: ?[,:;] .+\bor\b .+)", re.IGNORECASE)
COMPARED = re.compile(r"\b(?:more|most|first|less|least|fewer|later|both|either|[a-z]+er|last)\b")
REFUSALS = re.compile(r"(?:un|not )answerable|unknown|n/a|none|no answer|(?:i|it) .+", re.IGNORECASE)
OPEN = re.compile(
    r"[\n?!]|(?<!\b[a-z])(?<!\bst)(?<!\b[dm]r)\.\$? |\b(?:i|my|me|not an?)\b"
    r"|\band (?:who|what|when|where|which|how)\b|\bdo you think\b",
    re.IGNORECASE,
)


def stated(question: str, answer: str) -> str | None:
    """The answer as a sentence made from the question, or None where no rule is sure to give a good one."""
    question = SHORT.sub(r"\1 is ", question.strip().rstrip("? .").rstrip())
    answer = answer.strip().removesuffix(".")
    if not answer or len(answer.split()) > 8 or len(question.split()) > 30 or "\n" in answer or OPEN.search(question):
        return None
    if REFUSALS.fullmatch(answer) or answer.startswith("(") or answer[-1] in "?!:;," or answer.endswith(('."', ".”")):
        return None
    ahead = AHEAD.fullmatch(question)
    if ahead:
        question = ahead[2]
    either = EITHER.fullmatch(question)
    if either:
        question = either[1]
    elif " or " in question and COMPARED.search(question):
        return None
    if re.match(r"(?:An?|The) [a-z]", answer):
        answer = answer[0].lower() + answer[1:]
    for pattern, fill in RULES:
        found = pattern.fullmatch(question)
        if found:
            text = fill(found, answer) if (answer.lower() in ("yes", "no")) == (fill is _yes_no) else None
            break
    else:
        return None
    if not text:
        return None
    text = " ".join(f"{ahead[1]}, {text}".split() if ahead else text.split())
    if re.match(r"[a-z][A-Z]", text):
        return None
    return text[0].upper() + text[1:] + "."
