"""What a candidate's answer is, and what a reference's value is: decided once, before any judge of correctness reads.

`find_answer` leaves out reasoning traces, run-on text and remarks after the answer, and takes the value after `####`
for the reference.
"""

from bert_judge.reading.answers import Answer, find_answer, find_value
from bert_judge.reading.traces import EMPTY, THINK_TOKEN, after_trace, opening_token, split_trace

__all__ = [
    "EMPTY",
    "THINK_TOKEN",
    "VERSION",
    "Answer",
    "after_trace",
    "find_answer",
    "find_value",
    "opening_token",
    "split_trace",
]

VERSION = 1
"""Changes whenever another part of a text is taken for the answer."""
