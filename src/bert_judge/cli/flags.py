"""Flags from signatures: what a function, class or dataclass takes is what the command line takes.

A parameter `name: Annotated[T, "help"] = default` becomes `--name` (and `--na-me` for `na_me`); T is str, int, float,
bool, Literal, a mapping of texts (`a=b,c=d`), or one of these with None. A `--config` file in YAML holds the same
names; flags win over it.
"""

from __future__ import annotations

import argparse
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from bert_judge.errors import InputError


def add_flags(parser: argparse._ArgumentGroup, signature: Callable[..., Any], skip: tuple[str, ...] = ()) -> list[str]:
    """Add a flag for each parameter; returns their names."""
    target = signature.__init__ if isinstance(signature, type) else signature  # type: ignore[misc]
    hints = typing.get_type_hints(target if isinstance(signature, type) else signature, include_extras=True)
    names = []
    for name, parameter in inspect.signature(signature).parameters.items():
        if name not in skip and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            annotation = hints.get(name, str)
            _add_flag(parser, name, annotation, parameter.default)
            names.append(name)
    return names


def spellings(name: str) -> list[str]:
    """`--output_dir` and `--output-dir`."""
    return list(dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"]))


def read_config(path: str) -> dict[str, Any]:
    """The names and values of a YAML file, in the underscore spelling. Raises InputError with what is wrong."""
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise InputError(f"the file of --config, {path}, can't be read ({error.strerror}).") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML ({str(error).splitlines()[0]}).") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} holds a {type(values).__name__}; names and values, as of flags, were expected.")
    return {str(key).replace("-", "_"): value for key, value in values.items()}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and whose defaults can come from a file."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, None, description, epilog, formatter_class=formatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Leave with status 2 and a sentence, without the usage of all flags."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help.\n")

    def set_config(self, values: Mapping[str, Any], path: str) -> None:
        """Take the values of a config file as defaults, each checked as its flag would be."""
        known = {action.dest: action for action in self._actions if action.option_strings and action.dest != "help"}
        for name in values:
            if name not in known:
                raise InputError(f"{path} sets {name!r}, which is no flag of {self.prog}; there is {', '.join(known)}.")
        self.set_defaults(**{name: _checked(path, known[name], value) for name, value in values.items()})


def _checked(path: str, action: argparse.Action, value: Any) -> Any:
    if isinstance(action, argparse._StoreTrueAction) or value is None:
        if not isinstance(value, bool | None):
            raise InputError(f"{path} sets {action.dest} to {value!r}; true or false was expected.")
        return value
    if isinstance(value, dict):
        value = ",".join(f"{name}={column}" for name, column in value.items())
    try:
        converted = action.type(str(value)) if callable(action.type) else str(value)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise InputError(f"{path} sets {action.dest} to {value!r}, which the flag would not take ({error}).") from error
    if action.choices and converted not in action.choices:
        raise InputError(f"{path} sets {action.dest} to {value!r}; one of {', '.join(action.choices)} was expected.")
    return converted


def _add_flag(parser: argparse._ArgumentGroup, name: str, annotation: Any, default: Any) -> None:
    text = ""
    if get_origin(annotation) is Annotated:
        annotation, text = get_args(annotation)[:2]
    optional = get_origin(annotation) in (Union, types.UnionType)
    if optional:
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
    if default not in (None, False, inspect.Parameter.empty):
        text += f" (default: {default})"
    text = text.replace("%", "%%")
    if annotation is bool:
        parser.add_argument(*spellings(name), action="store_true", default=default, help=text)
    elif get_origin(annotation) is Literal:
        parser.add_argument(*spellings(name), choices=get_args(annotation), default=default, help=text)
    else:
        kind = _pairs if get_origin(annotation) in (dict, Mapping) or annotation is dict else annotation
        metavar = "NAME=COLUMN,…" if kind is _pairs else {str: "TEXT", int: "N", float: "X"}[annotation]
        required = default is inspect.Parameter.empty
        parser.add_argument(*spellings(name), type=kind, default=default, required=required, metavar=metavar, help=text)


def _pairs(text: str) -> dict[str, str]:
    """`a=b,c=d` as a mapping; an empty value is allowed."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not pairs or not all(equals for _, equals, _ in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=column,name=column")
    return {name.strip(): column.strip() for name, _, column in pairs}
