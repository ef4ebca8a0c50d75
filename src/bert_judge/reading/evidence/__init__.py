"""What texts have in common: `read` reads one alone, `match` compares a candidate with its references.

Judges are trained with one version of it.
"""

from bert_judge.reading.evidence.expressions import CAN_COMPARE
from bert_judge.reading.evidence.folding import fold
from bert_judge.reading.evidence.languages import find_foreign, script_of
from bert_judge.reading.evidence.matching import AGREEING, Mark, Match, Relation, compare, match
from bert_judge.reading.evidence.options import find_options, name_option
from bert_judge.reading.evidence.reading import Reading, read
from bert_judge.reading.evidence.tables import LANGUAGES
from bert_judge.reading.evidence.values import Amount, Form, Option, Parts, Value, Word

__all__ = [
    "AGREEING",
    "CAN_COMPARE",
    "LANGUAGES",
    "VERSION",
    "Amount",
    "Form",
    "Mark",
    "Match",
    "Option",
    "Parts",
    "Reading",
    "Relation",
    "Value",
    "Word",
    "compare",
    "find_foreign",
    "find_options",
    "fold",
    "match",
    "name_option",
    "read",
    "script_of",
]

VERSION = 3
"""Changes whenever a text is read or compared in another way."""
