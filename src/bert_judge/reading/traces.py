"""Reasoning traces: where a model's thinking ends and its answer begins."""

from __future__ import annotations

import re
from functools import lru_cache

EMPTY = "the candidate is empty"
"""The explanation of a candidate without text."""

THINK_TOKEN = "</think>"
"""The marker that closes a reasoning trace, unless a model has another one."""

_NAME = r"(?:\w{1,20}[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratch_?pad|reflection|monologue|cot)"
# <think>, <|thinking|>, [THINK], ◁think▷, <seed:think>; <|begin_of_thought|>; <|START_THINKING|>; <unused94>thought.
_IN_BRACKETS = r"(?:think(?:ing)?|thoughts?|reasoning)"  # "[reason]" may be a placeholder
_OPENING = (
    rf"<\|?(?:anti|ant)?{_NAME}\|?>|\[{_IN_BRACKETS}\]|◁{_NAME}▷|<\|(?:begin|start)_(?:of_)?{_NAME}\|>|<unused94>"
    r"|<\|channel\|>(?:analysis|commentary)\b[^<]{0,60}<\|message\|>"
)
_CLOSING = (
    rf"<\|?/(?:anti|ant)?{_NAME}\|?>|\[/{_IN_BRACKETS}\]|◁/{_NAME}▷|<\|end_(?:of_)?{_NAME}\|>|<unused95>"
    r"|<\|channel\|>final\b[^<]{0,60}<\|message\|>"
)
# Traces of harmony (gpt-oss), decoded without special tokens: "analysisWe need …assistantfinal42".
_HARMONY = re.compile(r"\s*analysis\S.*assistant ?final", re.DOTALL)
_MARKS = ("<", "[", "◁")  # a text without any of them has no marker


def split_trace(text: str, think_token: str = THINK_TOKEN, *, opened: bool = False) -> tuple[str, str | None]:
    """The reasoning trace and the answer of a reply; the answer is None where the trace was never closed.

    Finds the markers of common models: `<think>`, `<thinking>`, `[THINK]`, `◁think▷`, `<|channel|>analysis…` and the
    like. `think_token` is the closing marker of another model; if it is empty the whole reply is the answer. `opened`:
    the opening marker is in the prompt. The last closing marker counts, as a trace may quote one, unless only blanks
    follow it and an answer stands before the trace.
    """
    if not think_token:
        return "", text
    if not opened and think_token not in text and not any(mark in text for mark in _MARKS):
        harmony = _HARMONY.match(text)
        return (harmony[0], text[harmony.end() :].strip()) if harmony else ("", text.strip())
    opening, closing = _markers(think_token)
    closed = list(closing.finditer(text))
    rest = text[closed[-1].end() :] if closed else text
    if opening.match(rest) or (opened and not closed):
        return text, None
    if not closed:
        return "", text.strip()
    trace = text[: closed[-1].start()]
    first = opening.search(trace)
    if first and not rest.strip() and (before := trace[: first.start()].strip()):
        return trace[first.end() :].strip(), before
    leading = opening.match(trace)
    return trace[leading.end() if leading else 0 :].strip(), rest.strip()


def after_trace(candidate: str, think_token: str = THINK_TOKEN, *, opened: bool = False) -> tuple[str, str | None]:
    """The text after a candidate's reasoning trace (see `split_trace`), and None; or "" and why there is none."""
    if not candidate.strip():
        return "", EMPTY
    _, answer = split_trace(candidate, think_token, opened=opened)
    if answer is None:
        return "", "the candidate's reasoning has no end"
    return answer, None if answer else "nothing follows the candidate's reasoning"


def has_marker(text: str) -> bool:
    """Whether a text has a marker that opens or closes a reasoning trace."""
    return any(mark in text for mark in _MARKS) and any(marker.search(text) for marker in _markers(THINK_TOKEN))


def opening_token(think_token: str) -> str:
    """`<think>` for `</think>`."""
    return think_token.replace("/", "", 1)


@lru_cache
def _markers(think_token: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of what opens a trace (with blanks before it) and of what closes one."""
    return (
        re.compile(rf"\s*(?:{re.escape(opening_token(think_token))}|{_OPENING})", re.IGNORECASE),
        re.compile(rf"{re.escape(think_token)}|{_CLOSING}", re.IGNORECASE),
    )
