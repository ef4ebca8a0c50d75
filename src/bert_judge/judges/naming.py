"""A judge from the text that a person types, or from names and values: `starter`, `RegexJudge`, `my.yaml`, …

| text | judge |
|---|---|
| a name of the table, or `module:Class` | that judge as it is without flags |
| a metric: `containment`, `exact_match`, `token_f1`, … | RegexJudge with that metric on the whole candidate |
| a file that ends with `.yaml` or `.yml` | its `judge_type` (BERTJudge without it) with its other values as flags |
| anything else: `starter`, a folder, a name on the Hub | BERTJudge with that model |
"""

from __future__ import annotations

import difflib
import inspect
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from bert_judge.errors import InputError, ModelError
from bert_judge.judges import JUDGES, find_judge
from bert_judge.judges.base import Judge
from bert_judge.metrics import METRICS, find_metric
from bert_judge.models import STARTER, find_model

YAML = (".yaml", ".yml")


class NamedJudge(NamedTuple):
    """A judge, and the short name that tables and paths call it by."""

    judge: Judge
    name: str


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge that is not made yet: its short name, its class and the arguments of its constructor, all checked."""

    name: str
    kind: type[Judge]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, given: str | Path | Mapping[str, Any]) -> JudgeSpec:
        """Read a text (see the table above) or a mapping with `judge_type` and flags, as a YAML file holds.

        The short name is a file's without its ending, the last part of a model's, or the text. Nothing is loaded, but a
        model on the Hub is looked for. Raises InputError for an unknown judge, flag or value, and for a file that
        can't be read; ModelError where there is no such model; MissingExtraError where a metric's package is missing.
        """
        if isinstance(given, Mapping):
            return _from_values(given, "the specification of a judge", None)
        named = read_name(str(given))
        return _from_values(named.values, str(given), named.name)

    def make(self) -> NamedJudge:
        """Load the judge. Raises what its constructor does."""
        return NamedJudge(self.kind(**self.settings), self.name)


class Named(NamedTuple):
    """What the name of a judge stands for: its short name, and `judge_type` with the other values that it sets."""

    name: str
    values: Mapping[str, Any]


def read_name(text: str) -> Named:
    """What a text stands for (see the table above); a metric and a model are looked for, values are not checked.

    Raises InputError for an unknown name and a file that can't be read, ModelError where there is no such model,
    MissingExtraError where a metric's package is missing.
    """
    text = text.strip()
    if not text:
        raise InputError(f"an empty name of a judge was given; {_expected()} was expected.")
    if text.endswith(YAML):
        return Named(Path(text).stem, _read_yaml(Path(text)))
    if text in JUDGES or _is_class(text):
        return Named(text.rpartition(":")[2], {"judge_type": text})
    if text in METRICS:
        find_metric(text)
        return Named(text, {"judge_type": "RegexJudge", "pattern": "none", "metric": text})
    return Named(_find_model(text), {"judge_type": "BERTJudge", "model_path": text})


def make_judge(given: str | Path | Mapping[str, Any]) -> NamedJudge:
    """The judge of a text or mapping, loaded, with its short name: `judge, name = make_judge("starter")`.

    Raises what `JudgeSpec.of` does, and what the judge's constructor does.
    """
    return JudgeSpec.of(given).make()


def read_judges(given: Iterable[str | Path | Mapping[str, Any]]) -> list[JudgeSpec]:
    """The specifications of several judges, with distinct names: a name that comes again gets a number (`starter-2`).

    Raises what `JudgeSpec.of` does.
    """
    specs = [JudgeSpec.of(each) for each in given]
    names = distinct([spec.name for spec in specs])
    return [replace(spec, name=name) for spec, name in zip(specs, names, strict=True)]


def distinct(names: Sequence[str]) -> list[str]:
    """The names in their order, numbered from their second time on: `a a b` becomes `a a-2 b`."""
    taken, found = set(names), list[str]()
    for name in names:
        if name in found:
            name = next(new for number in count(2) if (new := f"{name}-{number}") not in taken)
        taken.add(name)
        found.append(name)
    return found


def _from_values(values: Mapping[str, Any], where: str, name: str | None) -> JudgeSpec:
    settings = {str(key).replace("-", "_"): value for key, value in values.items() if value is not None}
    judge_type = settings.pop("judge_type", "BERTJudge")
    if not isinstance(judge_type, str):
        raise InputError(f"{where} sets judge_type to {judge_type!r}; one of {', '.join(JUDGES)} was expected.")
    kind = find_judge(judge_type)
    parameters = inspect.signature(kind).parameters
    hints = typing.get_type_hints(kind.__init__)
    for key, value in settings.items():
        if key not in parameters:
            near = difflib.get_close_matches(key, parameters, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(parameters)}."
            raise InputError(f"{where} sets {key!r}, which {judge_type} does not take; {hint}")
        settings[key] = _fitting(value, hints.get(key, object), f"{where} sets {key} to {value!r}")
    for key, parameter in parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and key not in settings:
            raise InputError(f"{where} does not say {key}, which {judge_type} needs; give it in a YAML file.")
    model = settings.get("model_path")
    return JudgeSpec(name or _last_part(str(model or judge_type)), kind, settings)


def _fitting(value: Any, annotation: Any, given: str) -> Any:
    """The value as the parameter takes it: `1e-5` is text in YAML, and 5 may stand for a text."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(each for each in get_args(annotation) if each is not type(None))
    if get_origin(annotation) is Literal:
        if value not in get_args(annotation):
            raise InputError(f"{given}; one of {', '.join(map(str, get_args(annotation)))} was expected.")
        return value
    if annotation not in _KINDS:
        return value
    accepted, expected = _KINDS[annotation]
    if isinstance(value, bool) is not (annotation is bool) or not isinstance(value, accepted):
        raise InputError(f"{given}; {expected} was expected.")
    try:
        return annotation(value)
    except ValueError as error:
        raise InputError(f"{given}; {expected} was expected.") from error


_KINDS: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float, str), "a number"),
    str: ((str, int, float), "a text"),
}


def _read_yaml(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise InputError(f"the judge {path} can't be read ({error.strerror}); a YAML file was expected.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML ({str(error).splitlines()[0]}).") from error
    if not isinstance(values, Mapping):
        raise InputError(f"{path} holds a {type(values).__name__}; judge_type and flags by name were expected.")
    return values


def _is_class(text: str) -> bool:
    """Whether a text is `module:Class`; a folder's name may hold a colon, too."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(map(str.isidentifier, module.split(".")))


def _find_model(text: str) -> str:
    """The last part of a model's name; a wrong one that looks like a judge's is answered with that."""
    try:
        find_model(text)
    except ModelError as error:
        known = {name.casefold(): name for name in (STARTER, *JUDGES, *METRICS)}
        near = difflib.get_close_matches(text.casefold(), known, n=1, cutoff=0.7)
        if not near:
            raise
        raise InputError(f"there is no judge {text!r}; did you mean {known[near[0]]}?") from error
    return _last_part(text)


def _last_part(name: str) -> str:
    return Path(name).name or Path(name).resolve().name


def _expected() -> str:
    return f"one of {STARTER}, {', '.join(JUDGES)}, a metric, a model, module:Class or a YAML file"
