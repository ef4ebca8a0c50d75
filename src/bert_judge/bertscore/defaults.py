"""The default model, layer and baseline of BERTScore (bert-score's tables, the model's own file, or a rule)."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bert_judge.encoder.models import STARTER, count_layers, find_model, read_config
from bert_judge.errors import InputError, ModelError

OWN_FIGURES = "bertscore.json"
"""A file in a model's folder with its best layer and its baseline: `{"num_layers": 4, "baseline": [[P, R, F1], …]}`."""

_BASELINE_HEADER = ["LAYER", "P", "R", "F"]


@dataclass(frozen=True, slots=True)
class RescalingBaseline:
    """Mean P, R and F1 of random pairs of texts, a row for each layer from 0 on, and where they come from."""

    rows: Sequence[Sequence[float]]
    source: str

    @property
    def name(self) -> str:
        """The last part of the source, and eight hexadecimal digits of a hash of the numbers."""
        return f"{Path(self.source).name}@{hashlib.sha256(repr(self.rows).encode()).hexdigest()[:8]}"

    def of(self, layer: int | None, layers: int) -> NDArray[np.float32]:
        """The row of a layer, or of all `layers` (None), as rows by 3. Raises InputError if one is missing."""
        numbers = range(layers) if layer is None else [layer]
        if len(self.rows) <= max(numbers):
            raise InputError(
                f"the baseline ({self.source}) has layers 0 to {len(self.rows) - 1}, but layer {max(numbers)} is read; "
                "give a baseline file of this model."
            )
        return np.array([self.rows[number] for number in numbers], np.float32)


def read_baseline(path: Path) -> RescalingBaseline:
    """Read a baseline file in bert-score's format: CSV with the header LAYER,P,R,F, layers from 0 on.

    Raises InputError if the file can't be read or holds something else.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
        if [name.upper() for name in header] != _BASELINE_HEADER:
            raise ValueError(f"its first line is {','.join(header)!r}")
        if [row[0] for row in rows] != list(map(str, range(len(rows)))) or {len(row) for row in rows} - {4}:
            raise ValueError("its rows are not the layers 0, 1, 2 …, each with three numbers")
        numbers = [[float(value) for value in row[1:]] for row in rows]
        if not all(-1 <= value < 1 for row in numbers for value in row):
            raise ValueError("it holds a mean that is not from -1 to below 1")
    except OSError as error:
        raise InputError(f"the baseline file {path} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise InputError(
            f"{path} is not a baseline file: {error}; LAYER,P,R,F and a row for each layer were expected."
        ) from error
    return RescalingBaseline(numbers, str(path))


@cache
def known_figures() -> dict[str, Any]:
    """bert-score's tables: `languages` (model by code), `multilingual`, `layers` (by model), `baselines`."""
    figures: dict[str, Any] = json.loads((Path(__file__).parent / "models.json").read_text(encoding="utf-8"))
    return figures


def default_model(lang: str | None, any_language: bool = False) -> str:
    """bert-score's model for a language ("en": roberta-large), or the starter for None.

    Other languages get the multilingual BERT if it was trained on them, or in any case with `any_language`. Raises
    InputError for a language without a model.
    """
    if lang is None:
        return STARTER
    figures, code = known_figures(), lang.lower()
    if code in figures["languages"]:
        return str(figures["languages"][code])
    multilingual = figures["multilingual"]
    if any_language or code in multilingual["languages"].split():
        return str(multilingual["model"])
    raise InputError(
        f"there is no model for the language {lang!r}; name a model, or give a code such as en, zh, de or en-sci."
    )


class Layer(NamedTuple):
    """The layer to read, and what chose it: "given" (the user), "bertscore.json", "bert-score" or "rule"."""

    number: int
    chosen: str


def choose_layer(model: str, num_layers: int | None, trust_remote_code: bool = False) -> Layer:
    """The layer to read: `num_layers`, else that of the model's `bertscore.json`, else bert-score's, else by a rule.

    The rule is three quarters of the layers, rounded up: the best layers of the 33 models with a baseline in bert-score
    lie at 0.71 of their depth (median). Models are looked up by the last part of their name, so that
    `FacebookAI/roberta-large` and a folder `models/roberta-large` are in bert-score's table. Raises InputError if the
    model has no such layer.
    """
    folder = find_model(model, trust_remote_code)
    layers = count_layers(read_config(folder))
    figures, best = _own_figures(folder), _lookup(known_figures()["layers"], model)
    if num_layers is not None:
        layer = Layer(num_layers, "given")
    elif figures:
        layer = Layer(figures["num_layers"], OWN_FIGURES)
    elif best is not None and best <= layers:
        layer = Layer(best, "bert-score")
    else:
        layer = Layer(-(-3 * layers // 4), "rule")
    if not 0 <= layer.number <= layers:
        raise InputError(f"num_layers is {layer.number}, but {model} has layers 0 (the embeddings) to {layers}.")
    return layer


def find_baseline(model: str, lang: str | None, path: str | None) -> RescalingBaseline:
    """The baseline for rescaling: from a file, else the model's `bertscore.json`, else bert-score's of a language.

    Raises InputError if there is none.
    """
    if path is not None:
        return read_baseline(Path(path))
    code = (lang or "").lower()
    give_one = "give a file as baseline_path"
    if figures := _own_figures(find_model(model)):
        if code and figures["language"] not in (None, code):
            language = figures["language"]
            raise InputError(f"the baseline of {model} is for the language {language!r}, not {lang!r}; {give_one}.")
        return RescalingBaseline(figures["baseline"], OWN_FIGURES)
    baselines = known_figures()["baselines"].items()
    by_language = {language: rows for language, models in baselines if (rows := _lookup(models, model))}
    if code in by_language:
        return RescalingBaseline(by_language[code], f"bert-score/{code}")
    if by_language:
        problem = "no language was given" if lang is None else f"none for {lang!r}"
        languages = ", ".join(by_language)
        raise InputError(f"{model} has rescaling baselines for {languages}, but {problem}; choose one of these.")
    raise InputError(f"there is no rescaling baseline for {model}; {give_one}.")


def _own_figures(folder: Path) -> dict[str, Any]:
    """The content of the model's `bertscore.json`; empty if there is none."""
    path = folder / OWN_FIGURES
    if not path.exists():
        return {}
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        rows = [[float(value) for value in row] for row in raw["baseline"]]
        if any(len(row) != 3 for row in rows):
            raise ValueError("a row of its baseline does not have three numbers")
        return {"num_layers": int(raw["num_layers"]), "baseline": rows, "language": raw.get("language")}
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} can't be read ({error}); num_layers and baseline were expected.") from error


def _lookup(table: Mapping[str, Any], model: str) -> Any:
    """The entry of a model by its name, else by the last part of the name if that is unique; else None."""
    if model in table:
        return table[model]
    last = Path(model).name
    names = [name for name in table if name.split("/")[-1] == last]
    return table[names[0]] if len(names) == 1 else None
