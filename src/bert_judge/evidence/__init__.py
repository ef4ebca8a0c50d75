"""What texts have in common: `read` reads one alone, `match` compares a candidate with its references.

`find_signals` tells it as numbers, and a `Combiner` adds such numbers to what an encoder says. Judges
are trained with one version of it.
"""

from bert_judge.evidence.combiner import Combiner
from bert_judge.evidence.expressions import CAN_COMPARE
from bert_judge.evidence.folding import fold
from bert_judge.evidence.languages import find_foreign, script_of
from bert_judge.evidence.matching import AGREEING, Mark, Match, Relation, compare, match
from bert_judge.evidence.options import find_options, name_option
from bert_judge.evidence.reading import Reading, read
from bert_judge.evidence.signals import SIGNALS, Signals, find_signals
from bert_judge.evidence.tables import LANGUAGES
from bert_judge.evidence.values import Amount, Form, Option, Parts, Value, Word

__all__ = [
    "AGREEING",
    "CAN_COMPARE",
    "LANGUAGES",
    "SIGNALS",
    "VERSION",
    "Amount",
    "Combiner",
    "Form",
    "Mark",
    "Match",
    "Option",
    "Parts",
    "Reading",
    "Relation",
    "Signals",
    "Value",
    "Word",
    "compare",
    "find_foreign",
    "find_options",
    "find_signals",
    "fold",
    "match",
    "name_option",
    "read",
    "script_of",
]

VERSION = 3
"""Changes whenever a text is read or compared in another way."""
