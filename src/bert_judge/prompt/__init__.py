"""The one home of a judge's input format: from a sample to the token ids that the encoder reads.

The paper's form is `<|question|>Q<|candidate|>C<|reference|>R` between whatever the tokenizer puts at both ends
(arXiv 2604.09497; `judges/bert.py` of its package). Ours adds three things to it: the markers are inserted as ids, so
that no text can imitate them; what does not fit is cut fairly and visibly; and, for encoders with two token types,
*match marks*: the words that candidate and reference share carry the second type, and, as an option, those that they
do not share a third.
"""

from bert_judge.prompt.form import InputForm, JudgeConfig
from bert_judge.prompt.prompts import Prompt, PromptEncoder
from bert_judge.prompt.scope import Scope

__all__ = ["InputForm", "JudgeConfig", "Prompt", "PromptEncoder", "Scope"]
