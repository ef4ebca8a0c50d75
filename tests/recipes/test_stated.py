"""Answers as whole sentences, made from their questions."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "starter"))

from made.stated import stated

from tables import table


def test_stated() -> None:
    for question, answer, expected in table("stated"):
        assert stated(question, answer) == expected, question
