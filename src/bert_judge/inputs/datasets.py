"""Load data sets from `LOCAL_DATASETS_DIR`, a folder, a file or the Hub, always in the same shape."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
}  # the name of each reader in datasets
_NO_DATA = frozenset(["dataset_info.json", "dataset_infos.json", "state.json"])
_SPLITS = {
    **dict.fromkeys(["train", "training"], "train"),
    **dict.fromkeys(["validation", "valid", "val", "dev"], "validation"),
    **dict.fromkeys(["test", "testing"], "test"),
}
_SHARD = re.compile(r"-\d{5}-of-\d{5}.*")


def load_dataset(
    path: str,
    name: str | Sequence[str] | None = None,
    split: str | Sequence[str] | None = None,
    filter_fn: Callable[[dict[str, Any]], bool] | None = None,
    process_fn: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Dataset:
    """The rows of a data set, from `LOCAL_DATASETS_DIR`, a local folder or file, or the Hub, in this order.

    In `LOCAL_DATASETS_DIR`, `org/data` may be `data` or `org/data`. A local folder holds the output of `save_to_disk`,
    a copy of a repository of the Hub, or parquet, JSON, JSON lines or CSV files (cells are text). A configuration
    (`name`) and a split may be its subfolders, and files may be named after their split (`test.jsonl`,
    `test-00000-of-00002.parquet`). Files and folders that name none stand for any.

    Several names or splits are joined; no split means all of them. `filter_fn` returns whether a row is kept, and
    `process_fn` further columns of a row.

    Raises InputError for local data that can't be read; the Hub is asked only where there are none.
    """
    from datasets import concatenate_datasets

    place = find_dataset(path)
    loaded, stored = [], dict[tuple[Path, ...], None]()
    for config, one_split in product(_several(name), _several(split)):
        if place is None or _is_in_card(place, config):
            with _quiet() if place else nullcontext():
                loaded.append(_load_by_name(str(place or path), config, one_split))
        else:
            stored.update(dict.fromkeys(_stored(place, config, one_split)))
    loaded += [_read(paths) for paths in stored]
    with _as_input_error(path):
        dataset = concatenate_datasets(loaded)
    return _processed(path, dataset, filter_fn, process_fn)


def get_dataset_config_names(path: str) -> list[str]:
    """The configurations of a data set: its subfolders, or those that its card or the Hub names."""
    import datasets

    place = find_dataset(path)
    with _as_input_error(path):
        if place is None or _card_configs(place):
            return list(datasets.get_dataset_config_names(str(place or path)))
        folders = [folder for folder in sorted(place.glob("*/")) if not folder.name.startswith((".", "_"))]
        dictionaries = [folder for folder in folders if (folder / "dataset_dict.json").exists()]
        return [folder.name for folder in dictionaries or folders]


def load_dataset_dict(
    path: str, name: str | Sequence[str] | None = None, split: str | Sequence[str] | None = None
) -> dict[str | None, DatasetDict]:
    """The splits of each configuration of a data set: the named ones, or all. Raises InputError."""
    import datasets

    place, splits = find_dataset(path), {}
    for config in _several(name):
        folder = place / (config or "") if place else None
        with _as_input_error(path):
            if split is not None:
                named = {str(one): load_dataset(path, config, one) for one in _several(split)}
                splits[config] = datasets.DatasetDict(named)
            elif folder and (folder / "dataset_dict.json").exists():
                splits[config] = datasets.DatasetDict.load_from_disk(str(folder))
            else:
                splits[config] = datasets.load_dataset(str(place or path), config)
    return splits


def find_dataset(path: str) -> Path | None:
    """Where a data set is on the disk: in `LOCAL_DATASETS_DIR` unless the path is absolute, else at the path itself.

    None if only the Hub can have it.
    """
    local = "" if Path(path).is_absolute() else os.environ.get("LOCAL_DATASETS_DIR")
    in_local = [Path(local) / path.rstrip("/").split("/")[-1], Path(local) / path] if local else []
    places = [place.expanduser() for place in (*in_local, Path(path))]
    return next((place for place in places if place.exists()), None)


def _processed(
    path: str,
    dataset: Dataset,
    filter_fn: Callable[[dict[str, Any]], bool] | None,
    process_fn: Callable[[dict[str, Any]], dict[str, Any]] | None,
) -> Dataset:
    """Filter, then process. Raises InputError for a missing column."""
    options = {"keep_in_memory": True, "load_from_cache_file": False}  # else cache files pile up beside the data
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


def _is_in_card(place: Path, name: str | None) -> bool:
    """Whether the card of a copied repository names a configuration; datasets itself finds its files."""
    configs = _card_configs(place)
    if configs and name is not None and name not in configs and not (place / name).is_dir():
        raise InputError(f"{place} has no configuration {name!r}; there is {', '.join(configs)}.")
    return bool(configs) and (name is None or name in configs)


def _stored(place: Path, name: str | None, split: str | None) -> list[tuple[Path, ...]]:
    """The files, or folders of `save_to_disk`, of a configuration and a split. Raises InputError if there are none."""
    if place.is_file():
        if _reader(place) is None:
            raise InputError(f"{place} is not a data set; a folder or a file ({', '.join(_DATA_FILES)}) was expected.")
        return [(place,)]
    is_folder = name is not None and (place / name).is_dir()
    root = place / str(name) if is_folder else place
    if split and (root / split).is_dir():
        stored = _stored_in(root / split, None, None)
    else:
        stored = _stored_in(root, None if is_folder else name, split)
    if not split and not stored:
        folders = sorted(folder for folder in root.iterdir() if folder.is_dir() and folder.name in _SPLITS)
        stored = [paths for folder in folders for paths in _stored_in(folder, None, None)]
    if stored:
        return stored
    parts = [f"{kind} {value!r}" for kind, value in (("configuration", name), ("split", split)) if value]
    missing = " of the " * bool(parts) + " and ".join(parts)
    there = ", ".join(sorted(path.name for path in root.iterdir() if not path.name.startswith("."))) or "nothing"
    raise InputError(
        f"{root} has no data{missing}; there is {there}. A folder of save_to_disk, or files ({', '.join(_DATA_FILES)}) "
        "named after their split, were expected."
    )


def _stored_in(folder: Path, name: str | None, split: str | None) -> list[tuple[Path, ...]]:
    """What a folder itself holds: one saved split, a saved dictionary of splits, or files."""
    if (folder / "state.json").exists():
        _check_saved(folder, name, split)
        return [(folder,)]
    if (folder / "dataset_dict.json").exists():
        splits = _read_json(folder / "dataset_dict.json").get("splits", [])
        folders = [folder / one for one in splits if split in (None, one)]
        for one in folders:
            _check_saved(one, name, one.name)
        return [(one,) for one in folders]
    paths = [path for place in (folder, folder / "data") if place.is_dir() for path in sorted(place.iterdir())]
    files = [path for path in paths if _reader(path) and path.is_file()]
    files = _of_split(files, split) if split else files
    return [tuple(files)] if files else []


def _of_split(files: list[Path], split: str) -> list[Path]:
    """The files of a split: those of its name, or of its kind, or all files if none names a split."""
    stems = {file: _SHARD.sub("", file.name.split(".")[0]) for file in files}
    kinds = {file: {_SPLITS.get(word) for word in re.split(r"[^a-z]+", stem.lower())} for file, stem in stems.items()}
    exact = [file for file in files if stems[file] == split]
    kindred = [file for file in files if split in _SPLITS and _SPLITS[split] in kinds[file]]
    unnamed = files if all(kind == {None} for kind in kinds.values()) else []
    return exact or kindred or unnamed


def _check_saved(folder: Path, name: str | None, split: str | None) -> None:
    """Raise InputError if a folder of `save_to_disk` says that it holds another configuration or split."""
    info, state = folder / "dataset_info.json", folder / "state.json"
    config = _read_json(info).get("config_name") if info.exists() else None
    saved = _read_json(state).get("_split") if state.exists() else None
    if name and config and not config.startswith("default") and config != name:
        raise InputError(f"{folder} holds the configuration {config!r}; save {name!r} as the subfolder {name}.")
    if split and saved and saved.split("[")[0] != split:
        raise InputError(f"{folder} holds the split {saved!r}; save {split!r} as the subfolder {split}.")


def _card_configs(folder: Path) -> list[str]:
    """The configurations in the card of a copied repository; datasets itself finds their files."""
    from huggingface_hub import metadata_load

    card = folder / "README.md"
    if not card.is_file():
        return []
    with _as_input_error(card):
        return [config["config_name"] for config in (metadata_load(card) or {}).get("configs", [])]


def _reader(file: Path) -> str | None:
    """The reader of datasets for a file, compressed or not."""
    name = file.name.removesuffix(".gz")
    return None if name in _NO_DATA else _DATA_FILES.get(Path(name).suffix)


def _read_json(path: Path) -> dict[str, Any]:
    with _as_input_error(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _read(paths: tuple[Path, ...]) -> Dataset:
    import datasets

    with _quiet(), _as_input_error(paths[0]):
        if paths[0].is_dir():
            return _joined(datasets.load_from_disk(str(paths[0])))
        readers = {str(_reader(file)) for file in paths}
        if len(readers) > 1:
            raise InputError(f"{paths[0].parent} has files of several kinds ({', '.join(sorted(readers))}); keep one.")
        for file in paths:
            if file.stat().st_size == 0:
                raise InputError(f"{file} is empty; rows were expected.")
        options = _csv_options(paths[0]) if readers == {"csv"} else {}
        files = [str(file) for file in paths]
        return datasets.load_dataset(readers.pop(), data_files=files, split="train", **options)


def _csv_options(file: Path) -> dict[str, Any]:
    """Every cell of a CSV file is text: "0.10" is not 0.1, and "NA" is not a missing value."""
    from datasets import Features, Value

    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8-sig", newline="") as lines:
        header = next(csv.reader(lines))
    return {"features": Features({column: Value("string") for column in header}), "keep_default_na": False}


def _load_by_name(path: str, name: str | None, split: str | None) -> Dataset:
    """From the Hub, or from a copied repository with a card."""
    import datasets

    with _as_input_error(path):
        try:
            return _joined(datasets.load_dataset(path, name, split=split))
        except datasets.exceptions.DataFilesNotFoundError:
            raise  # the data set exists, but has nothing that can be read
        except (ConnectionError, FileNotFoundError) as error:  # a ConnectionError also with HF_HUB_OFFLINE
            local = os.environ.get("LOCAL_DATASETS_DIR")
            places = f"here or in LOCAL_DATASETS_DIR ({local})" if local else "here"
            raise InputError(
                f"the data set {path!r} was not found: there is no folder {path} {places}, and the Hub has no public "
                "one of this name (a gated one needs a token), or can't be reached (HF_HUB_OFFLINE may be set)."
            ) from error


def _joined(loaded: Any) -> Dataset:
    """All splits as one."""
    from datasets import Dataset, concatenate_datasets

    return loaded if isinstance(loaded, Dataset) else concatenate_datasets(list(loaded.values()))


@contextmanager
def _as_input_error(name: str | Path) -> Iterator[None]:
    """Raise InputError for whatever datasets raises for data that it can't read."""
    from datasets.exceptions import DatasetsError

    try:
        yield
    except InputError:
        raise
    except (DatasetsError, ValueError, OSError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        reason = first_line(error.__cause__ or error)
        raise InputError(f"{name} can't be read as a data set: {reason}.") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the progress bars and the log of datasets: one error message is enough."""
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
