"""The table of languages that a judge can know: their scripts, and words that tell those in Latin letters apart."""

from __future__ import annotations

from typing import Any

from spelling import rows


def language_table() -> dict[str, Any]:
    """The table languages.json: by code the name, the scripts, and words of grammar."""
    return {
        code: {"name": name, "scripts": scripts.split(), "words": words.split()}
        for code, name, scripts, words in rows("languages.txt")
    }
