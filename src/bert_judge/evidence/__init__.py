"""What two strings have in common: pure functions, no model.

`find_evidence` gives it as spans of characters, `find_signals` as numbers, and a `Combiner` adds such numbers to what
an encoder says.
"""

from bert_judge.evidence.combiner import Combiner
from bert_judge.evidence.folding import fold
from bert_judge.evidence.options import find_options, name_option
from bert_judge.evidence.signals import SIGNALS, Signals, find_signals
from bert_judge.evidence.spans import Evidence, content_words, find_evidence, touches, word_key, words
from bert_judge.evidence.word import Span, Word

__all__ = [
    "SIGNALS",
    "Combiner",
    "Evidence",
    "Signals",
    "Span",
    "Word",
    "content_words",
    "find_evidence",
    "find_options",
    "find_signals",
    "fold",
    "name_option",
    "touches",
    "word_key",
    "words",
]
