"""Every error that bert-judge raises on purpose.

    BertJudgeError
    ├── InputError (also a ValueError)          the user's data or arguments are not what was expected
    ├── ModelError (also an OSError)            a model could not be found, read or used as a judge
    ├── OutputError (also an OSError)           a result could not be written, or would overwrite another
    └── MissingExtraError (also an ImportError) an optional dependency is not installed

Each message is one sentence for a person: what was given, what was expected, what to do. The command line prints it
without a traceback; anything else that escapes is a bug and keeps its traceback.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_LONGEST_NAME = 100


class BertJudgeError(Exception):
    """Base of all errors that bert-judge raises on purpose."""


class InputError(BertJudgeError, ValueError):
    """The data or an argument is not what was expected."""


class ModelError(BertJudgeError, OSError):
    """A model could not be found, read, or used as a judge."""


class OutputError(BertJudgeError, OSError):
    """A result could not be written, or writing it would overwrite another result."""


class MissingExtraError(BertJudgeError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, feature: str, package: str, extra: str | None) -> None:
        install = shlex.join(["pip", "install", _requirement(package)])
        where = "" if extra is None else f" (of the extra [{extra}])"
        super().__init__(f"{feature} needs the package {package}; install it with `{install}`{where}.")


def _requirement(package: str) -> str:
    """A package of one of our extras with the extras of its own that we need: `math-verify[antlr4_13_2]`."""
    with suppress(importlib.metadata.PackageNotFoundError):  # run from its source, never installed
        for line in importlib.metadata.requires("bert-judge") or ():
            if (match := re.match(r"([\w.-]+)(\[[^]]*\])?", line)) and match[1] == package:
                return match[0]
    return package


def import_extra(module: str, feature: str, extra: str | None, package: str | None = None) -> Any:
    """A module of an optional package. Raises MissingExtraError, about the feature that needs it, if it is missing.

    `extra` is None for a tool that is in none of our extras: whoever plugs a judge into it has it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(feature, package or module, extra) from error


def require_extra(module: str, feature: str, package: str, extra: str) -> None:
    """Raise MissingExtraError if a module of an optional package is not installed; imports nothing."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(feature, package, extra)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest known one, whatever its case, or else all of them."""
    import difflib

    name = name[:_LONGEST_NAME]  # comparing takes time in proportion to the length
    folded = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {folded[near[0]]}?" if near else f"choose from {', '.join(folded.values())}."


@contextmanager
def named_in_errors(name: str) -> Iterator[None]:
    """Name the judge, of several, in an error: before our own sentences, below the traceback of others."""
    try:
        yield
    except (InputError, ModelError, OutputError) as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:  # a user's own judge can raise anything
        error.add_note(f"({name})")
        raise


def first_line(error: BaseException) -> str:
    """The first line of another library's error, without a full stop; else the error's name."""
    return str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
