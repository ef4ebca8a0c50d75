"""Flags from signatures: what a function, class or dataclass takes is what the command line takes.

A parameter `name: Annotated[T, "help"] = default` becomes `--name` (and `--na-me` for `na_me`); T is str, int, float,
bool, Literal, tuple[str, ...] (`a,b c`), a mapping to names of columns (`a=b,c="d, e"`), or one of these with None.
A `--config` file in YAML holds the same names; flags win over it.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import inspect
import re
import shutil
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

from bert_judge.errors import InputError
from bert_judge.inputs.settings import read_yaml, shown
from bert_judge.wording import harmless, public_text

T = TypeVar("T")

_SHORT = {"output_dir": "-o", "number": "-n"}


def add_flags(
    parser: argparse._ArgumentGroup,
    signature: Callable[..., Any],
    *,
    given_only: bool = False,
    without: Collection[str] = (),
    hidden: bool = False,
) -> list[str]:
    """Add a flag for each parameter; returns their names. Raises InputError for a parameter that can't be a flag.

    With `given_only` a flag that is not given has no value at all; parameters in `without` are left out. With `hidden`
    the help does not show them.
    """
    # The fields of a dataclass may be inherited from another module, whose names its constructor does not know.
    plain = isinstance(signature, type) and not is_dataclass(signature)
    hints = typing.get_type_hints(signature.__init__ if plain else signature, include_extras=True)
    names = []
    for name, parameter in inspect.signature(signature).parameters.items():
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) and name not in without:
            try:
                _add_flag(parser, name, hints.get(name, str), parameter.default, given_only, hidden)
            except (KeyError, argparse.ArgumentError) as error:
                why = "there is one of that name" if isinstance(error, argparse.ArgumentError) else f"it takes {error}"
                raise InputError(
                    f"the parameter {name} of {signature.__name__} can't be a flag, as {why}; rename it, or make it a "
                    "str, int, float, bool, Literal or dict of texts."
                ) from error
            names.append(name)
    return names


def spellings(name: str) -> list[str]:
    """`--output_dir`, `--output-dir` and, where there is one, a short one: `-o`."""
    short = [_SHORT[name]] if name in _SHORT else []
    return list(dict.fromkeys([*short, f"--{name}", f"--{name.replace('_', '-')}"]))


def read_config(path: str) -> dict[str, Any]:
    """The names and values of a YAML file, in the underscore spelling. Raises InputError with what is wrong."""
    values = read_yaml(Path(path), "the file of --config") or {}
    if not isinstance(values, dict):
        raise InputError(f"{path} holds a {type(values).__name__}; names and values, as of flags, were expected.")
    return {str(key).replace("-", "_"): value for key, value in values.items()}


def peek(arguments: Sequence[str], *names: str) -> dict[str, Any]:
    """The values that some flags have on the command line, or else in its `--config` file: for those flags on which
    depends what others there are. What is wrong with them is said when all flags are read.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for name in {"config", *names}:
        first.add_argument(*spellings(name))
    try:
        values = vars(first.parse_known_args(arguments)[0])
    except argparse.ArgumentError:
        return dict.fromkeys(names)
    config = read_config(values["config"]) if values["config"] else {}
    return {name: values[name] or config.get(name) for name in names}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and whose defaults can come from a file."""

    def __init__(self, prog: str, takes: str = "", text: str = "", epilog: str = "", add_help: bool = True) -> None:
        usage = f"{prog} {takes}"
        super().__init__(prog, usage, text, epilog, [], _Formatter, allow_abbrev=False, add_help=add_help)
        if add_help:
            self.add_argument("--config", metavar="FILE", help="YAML with names and values of flags; flags win")

    def error(self, message: str) -> NoReturn:
        """Leave with status 2 and a sentence, without the usage of all flags."""
        self.exit(2, harmless(f"{self.prog}: {public_text(message)}; see {self.prog} --help.\n"))

    def flags(self, title: str, signature: Callable[..., Any], **how: Any) -> list[str]:
        """Add a group of flags, as `add_flags` does."""
        return add_flags(self.add_argument_group(title), signature, **how)

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """The values of all flags, from a `--config` file, too. An unknown flag is answered with the nearest one."""
        if path := peek(arguments, "config")["config"]:
            self.set_config(read_config(path), path)
        values, unknown = self.parse_known_args(arguments)
        if unknown:
            spellings = [spelling for action in self._actions for spelling in action.option_strings]
            near = difflib.get_close_matches(unknown[0].partition("=")[0], spellings, n=1)
            flag = unknown[0].startswith("-")
            if flag:
                self.error(f"there is no flag {unknown[0]}" + (f", did you mean {near[0]}?" if near else ""))
            self.error(f"nothing was expected here, not {unknown[0]}; several names go into one word, with commas: a,b")
        return {name: value for name, value in vars(values).items() if name != "config"}

    def set_config(self, values: Mapping[str, Any], path: str) -> None:
        """Take the values of a config file as defaults, each checked as its flag would be."""
        flags = [action for action in self._actions if action.option_strings]
        actions = {action.dest: action for action in flags if action.dest not in ("help", "config")}
        for name in values:
            if name not in actions:
                raise InputError(
                    f"{path} sets {shown(name)}, which is not a flag of {self.prog}; there is {', '.join(actions)}."
                )
        settings = {name: value for name, value in values.items() if value is not None}
        self.set_defaults(**{name: _checked(path, actions[name], value) for name, value in settings.items()})


def joined_names(names: str) -> str:
    """Names as `a,b`, for a flag that takes several in one word."""
    return ",".join(names_in(names))


def as_flags(message: str, of: str = "") -> str:
    """What the library says of its parameters, as flags: `skip_bad_rows=True` is `--skip_bad_rows`.

    `of`: the command that has those which not every command has; empty where this one does.
    """
    message = _COLUMNS.sub(_as_map, message)
    message = _SETTING.sub(lambda setting: " ".join(filter(None, (f"--{setting[1]}", setting[2], of))), message)
    message = _SWITCH.sub(r"--\1", message)
    return _CHOICE.sub(r"--\1 \2", message)


_COLUMNS = re.compile(r"\bcolumns=\{(.*?)\}")
_SETTING = re.compile(
    r"""\b(skip_bad_rows|numbers_as_text|input_format|reference_separator)=(?:True|('[^']*'|"[^"]*"))"""
)
_SWITCH = re.compile(r"\b([a-z_]+)=True\b")
_CHOICE = re.compile(r"\b(by|what|model|dataset|task|input|name)='([\w/…-]+)'")


def _as_map(match: re.Match[str]) -> str:
    pairs = re.findall(r"'(\w+)': '([^']*)'", match[1])
    return "--map " + ",".join(f"{role}={column}" for role, column in pairs)


def options_from(kind: type[T], values: Mapping[str, Any]) -> T:
    """An instance of a dataclass from the values of its flags."""
    return kind(**{field.name: values[field.name] for field in fields(kind)})  # type: ignore[arg-type]


class _Names(argparse.Action):
    """Names as `a,b c`: separated by commas, spaces or both."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep them as a tuple."""
        setattr(namespace, self.dest, names_in(values))


def names_in(values: str | Sequence[str]) -> tuple[str, ...]:
    """The names in a text, or in several, separated by commas."""
    texts = [values] if isinstance(values, str) else values
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def columns_in(text: str) -> list[str]:
    """The names of columns in a text, separated by commas; one that holds a comma stands in double quotes."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or "" in names or len(set(names)) < len(names):
        raise InputError(f"{text!r} was given as columns; different names, separated by commas, were expected.")
    return names


class AddUp(argparse.Action):
    """Columns by name, of which those of several flags add up; they replace what a config file names."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep them beside those of the flags before."""
        earlier = getattr(namespace, self.dest, self.default)
        setattr(namespace, self.dest, values if earlier is self.default else _together([earlier, values]))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """One spelling a flag (and a short one), and not more columns than can be read well."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=min(110, shutil.get_terminal_size().columns))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.dest == "help":
            return super()._format_action_invocation(action)
        value = "" if action.nargs == 0 else " " + self._format_args(action, action.dest.upper())
        short = [name for name in action.option_strings if not name.startswith("--")]
        long = [name for name in action.option_strings if name.startswith("--")]
        return ", ".join([*short[:1], *long[:1]]) + value


def _checked(path: str, action: argparse.Action, value: Any) -> Any:
    """The value that a config file gives, as the flag would have it; InputError where the flag would not take it."""
    if isinstance(action, _Names):
        if not isinstance(value, str | list) or not all(isinstance(name, str) for name in value):
            raise InputError(f"{path} sets {action.dest} to {shown(value)}; a name or a list of names was expected.")
        return names_in(value)
    if isinstance(action, argparse._StoreTrueAction | argparse.BooleanOptionalAction):
        if not isinstance(value, bool):
            raise InputError(f"{path} sets {action.dest} to {shown(value)}; true or false was expected.")
        return value
    if action.type is joined_names and isinstance(value, list):
        return joined_names(",".join(item if isinstance(item, str) else shown(item) for item in value))
    if action.type is named_columns and isinstance(value, dict):
        return _together([{str(name): _columns_in(path, action.dest, paths)} for name, paths in value.items()])
    try:
        if isinstance(value, dict | list | bool):
            raise argparse.ArgumentTypeError(f"{shown(value)} is not a single value")
        converted = action.type(str(value)) if callable(action.type) else str(value)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise InputError(f"{path} sets {action.dest} to what the flag would not take: {error}.") from error
    if action.choices and converted not in action.choices:
        expected = f"one of {', '.join(action.choices)}"
        raise InputError(f"{path} sets {action.dest} to {shown(value)}; {expected} was expected.")
    return converted


def _columns_in(path: str, flag: str, value: Any) -> list[str]:
    """The columns that a config file names for one thing: one, none (null), or a list."""
    columns = value if isinstance(value, list) else [value]
    if any(isinstance(column, dict | list | bool) for column in columns):
        raise InputError(f"{path} sets a column of {flag} to {shown(value)}; a name was expected.")
    return ["" if column is None else str(column) for column in columns]


def _add_flag(
    parser: argparse._ArgumentGroup, name: str, annotation: Any, default: Any, given_only: bool, hidden: bool
) -> None:
    text = ""
    if get_origin(annotation) is Annotated:
        annotation, text = get_args(annotation)[:2]
    optional = get_origin(annotation) in (Union, types.UnionType)
    if optional:
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
    if default not in (None, False, inspect.Parameter.empty):
        text += f" (default: {default})"
    text = argparse.SUPPRESS if hidden else text.replace("%", "%%")
    required = default is inspect.Parameter.empty and not given_only
    if given_only:
        default = argparse.SUPPRESS
    if annotation is bool:
        switch = argparse.BooleanOptionalAction if optional or default is True else "store_true"
        parser.add_argument(*spellings(name), action=switch, default=default, help=text)
    elif get_origin(annotation) is tuple:
        parser.add_argument(*spellings(name), nargs="+", action=_Names, default=default, metavar="NAME", help=text)
    elif get_origin(annotation) is Literal:
        parser.add_argument(*spellings(name), choices=get_args(annotation), default=default, help=text)
    else:
        mapping = get_origin(annotation) in (dict, Mapping) or annotation is dict
        kind, metavar = (named_columns, "NAME=COLUMN,…") if mapping else _KINDS[annotation]
        action = AddUp if mapping else "store"
        parser.add_argument(
            *spellings(name), action=action, type=kind, default=default, required=required, metavar=metavar, help=text
        )


def _one_of(kind: Callable[[str], Any], expected: str) -> Callable[[str], Any]:
    """What reads a flag's text as a number."""

    def read(text: str) -> Any:
        try:
            return kind(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {expected}") from error

    return read


def named_columns(text: str) -> dict[str, str | tuple[str, ...]]:
    """`a=b,c="d, e"` as a mapping; a name that is there several times has several columns. Empty ones are allowed."""
    pairs, at = [], 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            break
        if pair["name"]:
            pairs.append({pair["name"].strip(): [pair["plain"] or (pair["quoted"] or "").replace('""', '"')]})
        at = pair.end()
    if at < len(text) or not pairs:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form name=column,name=column (a column with a comma or a quote in its name stands "
            'in double quotes: reference="right, in short")'
        )
    return _together(pairs)


_PAIR = re.compile(
    r"""\s*(?:(?P<name>[^=,"]*[^=,"\s])\s*=\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",\s](?:[^,]*[^,\s])?)?)\s*)?(?:,|$)"""
)


def _together(parts: Sequence[Mapping[str, str | Sequence[str]]]) -> dict[str, str | tuple[str, ...]]:
    """Mappings as one: each name with its column, or with all of its columns."""
    columns: dict[str, list[str]] = {}
    for name, paths in (pair for part in parts for pair in part.items()):
        columns.setdefault(name, []).extend([paths] if isinstance(paths, str) else paths)
    return {name: paths[0] if len(paths) == 1 else tuple(paths) for name, paths in columns.items()}


_KINDS: dict[Any, tuple[Callable[[str], Any], str]] = {
    str: (str, "TEXT"),
    int: (_one_of(int, "whole number"), "N"),
    float: (_one_of(float, "number"), "X"),
}
