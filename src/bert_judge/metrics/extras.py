"""The packages that some metrics compute with: the extra [lexical]."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import NamedTuple

from bert_judge.errors import MissingExtraError


class Extra(NamedTuple):
    """What a metric needs: the module that it imports, and the packages whose versions can change its numbers."""

    feature: str
    module: str
    packages: tuple[str, ...]

    def require(self) -> None:
        """Raise MissingExtraError where the module is not installed; imports nothing."""
        if find_spec(self.module) is None:
            raise MissingExtraError(self.feature, self.packages[0], "lexical")

    def versions(self) -> dict[str, str]:
        """The packages and their versions."""
        return {package: version(package) for package in self.packages}


ROUGE_SCORE = Extra("the metric ROUGE", "rouge_score", ("rouge-score",))
SACREBLEU = Extra("the metrics bleu and chrf", "sacrebleu", ("sacrebleu",))
MATH_VERIFY = Extra("the metric Math-Verify", "math_verify", ("math-verify", "latex2sympy2-extended", "sympy"))
