"""Loading data sets from `LOCAL_DATASETS_DIR`, a folder, a file or the Hub, always in the same shape."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bert_judge.errors import InputError, first_line

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

_DATA_FILES = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
}  # what datasets calls the reader of each
_NO_DATA = frozenset(["dataset_info.json", "dataset_infos.json", "state.json"])
_SPLITS = {
    **dict.fromkeys(["train", "training"], "train"),
    **dict.fromkeys(["validation", "valid", "val", "dev"], "validation"),
    **dict.fromkeys(["test", "testing"], "test"),
}
_SHARD = re.compile(r"-\d{5}-of-\d{5}.*")


class _Part(NamedTuple):
    """Some rows on the disk: files, a folder of `save_to_disk`, or a copied repository with a card."""

    paths: tuple[Path, ...]
    card: bool = False
    name: str | None = None
    split: str | None = None


def load_dataset(
    path: str,
    name: str | Sequence[str] | None = None,
    split: str | Sequence[str] | None = None,
    filter_fn: Callable[[dict[str, Any]], bool] | None = None,
    process_fn: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Dataset:
    """The rows of a data set, from `LOCAL_DATASETS_DIR`, a local folder or file, or the Hub, in this order.

    `org/data` is looked for in `LOCAL_DATASETS_DIR` as `data`, then as `org/data`. A local folder is what
    `save_to_disk` wrote, a copy of a repository of the Hub, or parquet, JSON, JSON lines or CSV files (cells are text);
    a configuration (`name`) and a split may be subfolders of it, and files may be named after their split
    (`test.jsonl`, `test-00000-of-00002.parquet`). Files and folders that name none stand for any.

    Several names or splits are joined, and no split means all of them. `filter_fn` then says of each row whether it is
    kept, and what `process_fn` returns for a row is added to its columns.

    Raises InputError for data that are there but can't be read; the Hub is asked only where nothing is there.
    """
    from datasets import concatenate_datasets

    asked = [(each, part) for each in _several(name) for part in _several(split)]
    place = find_dataset(path)
    if place is None:
        loaded = [_load_from_hub(path, *each) for each in asked]
    else:
        parts = dict.fromkeys(part for each in asked for part in _find_parts(place, *each))
        with _quiet():
            loaded = [_read(part) for part in parts]
    with _in_a_sentence(path):
        dataset = concatenate_datasets(loaded)
    return _processed(path, dataset, filter_fn, process_fn)


def get_dataset_config_names(path: str) -> list[str]:
    """The configurations of a data set: its subfolders on the disk, or those that its card or the Hub names."""
    import datasets

    place = find_dataset(path)
    with _in_a_sentence(path):
        if place is None or _card_configs(place):
            return list(datasets.get_dataset_config_names(str(place or path)))
        saved = [file.parent.name for file in sorted(place.glob("*/dataset_dict.json"))]
        return saved or [folder.name for folder in sorted(place.glob("*/")) if not folder.name.startswith((".", "_"))]


def load_dataset_dict(
    path: str, name: str | Sequence[str] | None = None, split: str | Sequence[str] | None = None
) -> dict[str | None, DatasetDict]:
    """The splits of each configuration of a data set: the named ones, or all. Raises InputError."""
    return {each: _load_splits(path, each, split) for each in _several(name)}


def _load_splits(path: str, name: str | None, split: str | Sequence[str] | None) -> DatasetDict:
    import datasets

    if split is not None:
        return datasets.DatasetDict({each: load_dataset(path, name, each) for each in _several(split)})
    place = find_dataset(path)
    folder = place / (name or "") if place else None
    with _in_a_sentence(path):
        if folder is None or not (folder / "dataset_dict.json").exists():
            return datasets.load_dataset(str(place or path), name)
        return datasets.DatasetDict.load_from_disk(str(folder))


def find_dataset(path: str) -> Path | None:
    """Where a data set lies on the disk, in `LOCAL_DATASETS_DIR` first; None if only the Hub can have it.

    An absolute path is taken as it is.
    """
    local = "" if Path(path).is_absolute() else os.environ.get("LOCAL_DATASETS_DIR")
    tried = [Path(local) / path.rstrip("/").split("/")[-1], Path(local) / path] if local else []
    return next((place for place in (each.expanduser() for each in (*tried, Path(path))) if place.exists()), None)


def _processed(
    path: str,
    dataset: Dataset,
    filter_fn: Callable[[dict[str, Any]], bool] | None,
    process_fn: Callable[[dict[str, Any]], dict[str, Any]] | None,
) -> Dataset:
    """Filter, then process. Raises InputError with the name of a column that is missing."""
    options = {"keep_in_memory": True, "load_from_cache_file": False}  # otherwise cache files pile up beside the data
    try:
        with _quiet():
            if filter_fn is not None:
                dataset = dataset.filter(filter_fn, **options)
            if process_fn is not None:
                dataset = dataset.map(process_fn, **options)
    except KeyError as error:
        columns = ", ".join(dataset.column_names)
        raise InputError(
            f"a row of the data set {path!r} has no {error.args[0]!r}; its columns are {columns}. "
            "Is this a copy of the original?"
        ) from error
    return dataset


def _several(value: str | Sequence[str] | None) -> Sequence[str | None]:
    return [value] if value is None or isinstance(value, str) else list(value)


def _find_parts(place: Path, name: str | None, split: str | None) -> list[_Part]:
    """The rows of a configuration and a split in a place on the disk. Raises InputError if there are none."""
    if place.is_file():
        if _reader(place) is None:
            raise InputError(f"{place} is not a data set; a folder or a file ({', '.join(_DATA_FILES)}) was expected.")
        return [_Part((place,))]
    configs = _card_configs(place)
    named = name is not None and (place / name).is_dir()
    if configs and (name in configs or name is None):
        return [_Part((place,), True, name, split)]
    if configs and not named:
        raise InputError(f"{place} has no configuration {name!r}; there is {', '.join(configs)}.")
    root = place / str(name) if named else place
    if split and (root / split).is_dir():
        found = _parts_at(root / split, None, None)
    else:
        found = _parts_at(root, None if named else name, split)
    if not split and not found:
        splits = sorted(each for each in root.iterdir() if each.is_dir() and each.name in _SPLITS)
        found = [part for each in splits for part in _parts_at(each, None, None)]
    if found:
        return found
    asked = " and ".join([*([f"configuration {name!r}"] if name else []), *([f"split {split!r}"] if split else [])])
    there = ", ".join(sorted(each.name for each in root.iterdir() if not each.name.startswith("."))) or "nothing"
    raise InputError(
        f"{root} has no data{f' of the {asked}' if asked else ''}; there is {there}. A folder of save_to_disk, "
        f"or files ({', '.join(_DATA_FILES)}) named after their split, were expected."
    )


def _parts_at(folder: Path, name: str | None, split: str | None) -> list[_Part]:
    """The rows in a folder itself, in any layout."""
    if (folder / "state.json").exists():
        _check_saved(folder, name, split)
        return [_Part((folder,))]
    if (folder / "dataset_dict.json").exists():
        splits = [each for each in _read_json(folder / "dataset_dict.json").get("splits", []) if split in (None, each)]
        for each in splits:
            _check_saved(folder / each, name, each)
        return [_Part((folder / each,)) for each in splits]
    files = [
        file
        for each in (folder, folder / "data")
        if each.is_dir()
        for file in sorted(each.iterdir())
        if _reader(file) and file.is_file()
    ]
    chosen = _of_split(files, split) if split else files
    return [_Part(tuple(chosen))] if chosen else []


def _of_split(files: list[Path], split: str) -> list[Path]:
    """The files that hold a split: those of its name, or of its kind, or all of them if none names a split."""
    stems = {file: _SHARD.sub("", file.name.split(".")[0]) for file in files}
    kinds = {file: {_SPLITS.get(word) for word in re.split(r"[^a-z]+", stem.lower())} for file, stem in stems.items()}
    exact = [file for file in files if stems[file] == split]
    kindred = [file for file in files if split in _SPLITS and _SPLITS[split] in kinds[file]]
    unnamed = files if all(kind == {None} for kind in kinds.values()) else []
    return exact or kindred or unnamed


def _check_saved(folder: Path, name: str | None, split: str | None) -> None:
    """Raise InputError for a folder of `save_to_disk` with another configuration or split than the one asked for."""
    info, state = folder / "dataset_info.json", folder / "state.json"
    config = _read_json(info).get("config_name") if info.exists() else None
    saved = _read_json(state).get("_split") if state.exists() else None
    if name and config and not config.startswith("default") and config != name:
        raise InputError(f"{folder} holds the configuration {config!r}; save {name!r} as the subfolder {name}.")
    if split and saved and saved.split("[")[0] != split:
        raise InputError(f"{folder} holds the split {saved!r}; save {split!r} as the subfolder {split}.")


def _card_configs(folder: Path) -> list[str]:
    """The configurations that the card of a copied repository names; datasets finds their files."""
    from huggingface_hub import metadata_load

    card = folder / "README.md"
    if not card.is_file():
        return []
    with _in_a_sentence(card):
        return [each["config_name"] for each in (metadata_load(card) or {}).get("configs", [])]


def _reader(file: Path) -> str | None:
    """The reader of datasets for a file, compressed or not."""
    name = file.name.removesuffix(".gz")
    return None if name in _NO_DATA else _DATA_FILES.get(Path(name).suffix)


def _read_json(path: Path) -> dict[str, Any]:
    with _in_a_sentence(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _read(part: _Part) -> Dataset:
    import datasets

    place = part.paths[0]
    with _in_a_sentence(place):
        if part.card:
            return _joined(datasets.load_dataset(str(place), part.name, split=part.split))
        return _read_files(part.paths) if place.is_file() else _joined(datasets.load_from_disk(str(place)))


def _read_files(paths: Sequence[Path]) -> Dataset:
    import datasets

    readers = {str(_reader(file)) for file in paths}
    if len(readers) > 1:
        raise InputError(f"{paths[0].parent} has files of several kinds ({', '.join(sorted(readers))}); keep one.")
    for file in paths:
        if file.stat().st_size == 0:
            raise InputError(f"{file} is empty; rows were expected.")
    options = _csv_options(paths[0]) if readers == {"csv"} else {}
    return datasets.load_dataset(readers.pop(), data_files=[str(file) for file in paths], split="train", **options)


def _csv_options(file: Path) -> dict[str, Any]:
    """Every cell of a CSV file is text: "0.10" is not 0.1, and "NA" is not a missing value."""
    from datasets import Features, Value

    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8-sig", newline="") as lines:
        header = next(csv.reader(lines))
    return {"features": Features({column: Value("string") for column in header}), "keep_default_na": False}


def _load_from_hub(path: str, name: str | None, split: str | None) -> Dataset:
    import datasets

    cause: OSError
    with _in_a_sentence(path):
        try:
            return _joined(datasets.load_dataset(path, name, split=split))
        except datasets.exceptions.DataFilesNotFoundError:
            raise  # the data set is there, but has nothing that can be read
        except ConnectionError as error:  # raised with HF_HUB_OFFLINE, too
            cause, reason = error, "it is not in the cache, and the Hub can't be reached or HF_HUB_OFFLINE is set"
        except FileNotFoundError as error:
            cause, reason = error, "and the Hub has no public data set of this name (a gated one needs a token)"
    local = os.environ.get("LOCAL_DATASETS_DIR")
    places = f"there is no folder {path}{f' here or in LOCAL_DATASETS_DIR ({local})' if local else ''}"
    raise InputError(f"the data set {path!r} was not found: {places}, {reason}.") from cause


def _joined(loaded: Any) -> Dataset:
    """All splits as one table."""
    from datasets import Dataset, concatenate_datasets

    return loaded if isinstance(loaded, Dataset) else concatenate_datasets(list(loaded.values()))


@contextmanager
def _in_a_sentence(what: str | Path) -> Iterator[None]:
    """Raise what datasets raises for data that it can't read as an InputError."""
    from datasets.exceptions import DatasetsError

    try:
        yield
    except InputError:
        raise
    except (DatasetsError, ValueError, OSError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        reason = first_line(error.__cause__ or error)
        raise InputError(f"{what} can't be read as a data set: {reason}.") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no log of datasets: what is wrong is said once, in a sentence."""
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars, logging

    verbosity, disabled = logging.get_verbosity(), are_progress_bars_disabled()
    logging.set_verbosity(logging.CRITICAL + 1)
    disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if not disabled:
            enable_progress_bars()
