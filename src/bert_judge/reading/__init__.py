"""What a candidate's answer is, and what a reference's value is: decided once, before any judge of correctness reads.

`find_answer` leaves out reasoning traces, run-on text and remarks after the answer, and takes the value after `####`
for the reference.
"""

from bert_judge.reading.answers import VERSION, Answer, find_answer, find_value
from bert_judge.reading.form import InputForm, JudgeConfig
from bert_judge.reading.prompts import Prompt, PromptEncoder
from bert_judge.reading.scope import Scope
from bert_judge.reading.traces import EMPTY, THINK_TOKEN, after_trace, opening_token, split_trace

__all__ = [
    "EMPTY",
    "THINK_TOKEN",
    "VERSION",
    "Answer",
    "InputForm",
    "JudgeConfig",
    "Prompt",
    "PromptEncoder",
    "Scope",
    "after_trace",
    "find_answer",
    "find_value",
    "opening_token",
    "split_trace",
]
