"""Finding and loading models and tokenizers: safetensors only, and no remote code unless it is allowed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.encoder.pickles import convert, converted, pickled_weights
from bert_judge.errors import InputError, ModelError, first_line, import_extra

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PretrainedConfig, PreTrainedModel

STARTER = "starter"
"""The name of the default judge, which ships inside this package."""

STARTER_FOLDER = Path(__file__).parents[1] / STARTER

JUDGE_CONFIG = "judge.json"
"""The file beside a judge's weights that says how they are used: see `prompt.JudgeConfig`."""

INT8 = ("int8.xml", "int8.bin")
"""The graph of an int8 judge and its weights, in place of safetensors: see `encoder.quantization`."""

_FILES = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja", *INT8)  # fetched from the Hub: no pickles, no code
_COMMIT = re.compile("[0-9a-f]{40}")
_UNREAD = ("pooler.", "decoder.")  # weights that no hidden state of an encoder depends on
_RELATIVE_POSITIONS = frozenset(["t5", "mt5", "umt5", "longt5", "xlnet"])
_OFFSET_POSITIONS = frozenset(
    "roberta xlm-roberta xlm-roberta-xl camembert mpnet longformer roberta-prelayernorm xmod".split()
)
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
_HIDDEN_DROPOUT = ("hidden_dropout_prob", "dropout", "mlp_dropout", "embedding_dropout")
_LAYER_COUNTS = ("encoder_layers", "num_encoder_layers", "num_hidden_layers", "n_layers", "n_layer", "num_layers")


def find_model(path: str, with_code: bool = False, with_pickle: bool = False) -> Path:
    """The folder of a model: a shipped one's, a folder, one under `LOCAL_MODELS_DIR`, or the Hub's (downloaded once).

    `LOCAL_MODELS_DIR` holds models under the last part of their name: `org/model` is looked for as `model`, then as
    `org/model`. A name on the Hub may end with a revision, `org/model@REVISION`; `with_code` a model whose code would
    run needs a commit there. A model whose weights are pickles is converted `with_pickle`, once: later its converted
    copy is found. Raises ModelError with what was tried.
    """
    folder = _located(path, with_code, with_pickle)
    if pickled_weights(folder):
        return converted(folder) or (convert(folder) if with_pickle else folder)
    return folder


def _located(path: str, with_code: bool, with_pickle: bool) -> Path:
    if path == STARTER:
        return STARTER_FOLDER
    local = os.environ.get("LOCAL_MODELS_DIR")
    tried = [Path(local) / path.rstrip("/").split("/")[-1], Path(local) / path] if local else []
    tried.append(Path(path))
    for folder in (each.expanduser() for each in tried):
        if folder.is_dir():
            return folder
        if folder.is_file():
            raise ModelError(f"{folder} is a file; a model's folder, a name on the Hub, or {STARTER!r} was expected.")
    return _download(path, tried, with_code, with_pickle)


def _download(path: str, tried: list[Path], with_code: bool, with_pickle: bool) -> Path:
    """Fetch a model from the Hub into its cache."""
    from huggingface_hub import errors, snapshot_download

    name, _, revision = path.partition("@")
    fetch = partial(snapshot_download, name, revision=revision or None)
    try:
        folder = Path(fetch(allow_patterns=[*_FILES]))
        if with_pickle and not any(folder.glob("*.safetensors")):
            folder = Path(fetch(allow_patterns=[*_FILES, "pytorch_model*.bin"]))
        if not with_code or not _has_code(folder):
            return folder
        if not _COMMIT.fullmatch(revision):
            raise ModelError(
                f"the model {name} brings code of its own, which runs only at a commit that you name, so that nobody "
                f"can change it later: read the code, and give {name}@{folder.name}."
            )
        return Path(fetch(allow_patterns=[*_FILES, "*.py"]))
    except errors.HFValidationError:
        reason = "and it is not a valid name on the Hub"
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        reason = "it is not in the Hub's cache, and the Hub can't be reached or HF_HUB_OFFLINE is set"
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        reason = f"and the Hub answered {status}: no public model of this name, or a token is needed"
    places = ", ".join(map(str, tried))
    raise ModelError(
        f"the model {path!r} was not found: there is no folder {places}, {reason}; "
        f"give a folder, a name on the Hub, or {STARTER!r}."
    )


def _has_code(folder: Path) -> bool:
    """Whether code that comes with a model would run if that is allowed: transformers lacks its architecture."""
    from transformers import CONFIG_MAPPING

    raw = read_config(folder)
    own = "auto_map" in raw and raw.get("model_type") not in CONFIG_MAPPING
    return own or "auto_map" in _tokenizer_config(folder)


def load_hf_encoder(
    path: str,
    trust_remote_code: bool = False,
    dtype: str = "auto",
    *,
    new_head: bool = False,
    attention_dropout: float | None = None,
    hidden_dropout: float | None = None,
) -> PreTrainedModel:
    """Load an encoder with a two-way classification head, in evaluation mode.

    `dtype` is a torch name ("float32", "bfloat16", "float16") or "auto" for that of the stored weights. With
    `new_head` a missing head starts at random, for training; otherwise a model without a trained one is refused.
    `trust_remote_code` permits code from the model's folder where transformers lacks the architecture; others are
    always loaded natively. `attention_dropout` and `hidden_dropout` replace the model's own. Raises ModelError.
    """
    folder = find_model(path, trust_remote_code)
    config = load_config(folder, trust_remote_code)
    if not new_head and config.num_labels != 2:
        raise ModelError(
            f"{folder} has a head with {config.num_labels} output(s); a judge has two (incorrect, correct). "
            "Is this a reward model or a similarity model?"
        )
    config.num_labels = 2
    for rate, names in ((attention_dropout, _ATTENTION_DROPOUT), (hidden_dropout, _HIDDEN_DROPOUT)):
        for name in names:
            if rate is not None and hasattr(config, name):
                setattr(config, name, rate)
    model, missing = _load_weights(folder, config, "AutoModelForSequenceClassification", dtype, new_head)
    if missing and not new_head:
        raise ModelError(
            f"{folder} is not a judge: its weights lack {_some(missing)}; "
            "a model trained for sequence classification was expected."
        )
    return model.eval()


def load_hf_backbone(path: str, trust_remote_code: bool = False, dtype: str = "auto") -> PreTrainedModel:
    """Load an encoder without a head, or the encoder of an encoder-decoder model, in evaluation mode.

    Otherwise as `load_hf_encoder`. BERTScore compares its hidden states.
    """
    folder = find_model(path, trust_remote_code)
    config = load_config(folder, trust_remote_code)
    model, missing = _load_weights(folder, config, "AutoModel", dtype)
    lacking = [name for name in missing if not name.startswith(_UNREAD)]
    if lacking:
        raise ModelError(f"{folder} lacks weights of its encoder: {_some(lacking)}; a whole model was expected.")
    return (model.get_encoder() if config.is_encoder_decoder else model).eval()


def load_language_model(
    folder: Path, config: PretrainedConfig, dtype: str, sequence_to_sequence: bool = False
) -> PreTrainedModel:
    """Load a causal language model, or a sequence-to-sequence one, in evaluation mode.

    Raises InputError for another type, and ModelError, also for a model that was trained to fill in masks.
    """
    if dtype not in ("float32", "bfloat16", "float16"):
        raise InputError(f"dtype is {dtype!r}; 'auto', 'float32', 'bfloat16' or 'float16' was expected.")
    if any(str(name).endswith("ForMaskedLM") for name in config.architectures or ()):
        # transformers would load it, and let every token read those after it.
        raise ModelError(f"{folder} is not a language model but an encoder, trained to fill in masked words.")
    auto_class = "AutoModelForSeq2SeqLM" if sequence_to_sequence else "AutoModelForCausalLM"
    model, missing = _load_weights(folder, config, auto_class, dtype)
    if missing:
        raise ModelError(f"{folder} is not a language model: its weights lack {_some(missing)}; is it an encoder?")
    return model.eval()


def _load_weights(
    folder: Path, config: PretrainedConfig, auto_class: str, dtype: str, other_shapes: bool = False
) -> tuple[PreTrainedModel, list[str]]:
    """A model from safetensors, and the names of the weights that its files lack, which start at random."""
    import transformers
    from safetensors import SafetensorError

    if is_int8(folder):
        raise ModelError(f"{folder} is an int8 judge, which can only be run as it is; name the judge it was made of.")
    if not list(folder.glob("*.safetensors")):
        pickles = ", ".join(sorted(file.name for file in folder.glob("*.bin")))
        found = f"only {pickles}, a pickle that can run code" if pickles else "no weights as safetensors"
        raise ModelError(
            f"{folder} has {found}; model.safetensors was expected. --allow_pickle (allow_pickle=True) converts such a "
            "model once: its tensors alone are read, in a process of their own."
        )
    try:
        with quiet_transformers():
            model, info = getattr(transformers, auto_class).from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                trust_remote_code=hasattr(config, "auto_map"),  # permission alone is no reason to run it
                output_loading_info=True,
                ignore_mismatched_sizes=other_shapes,
            )
    except (ValueError, OSError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(f"{folder} can't be loaded: {first_line(error)}") from error
    return model, sorted(info["missing_keys"])


def _some(names: list[str]) -> str:
    return f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and no reports of transformers; what matters in them is checked here."""
    from transformers.utils import logging

    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def read_config(folder: Path) -> dict[str, Any]:
    """A model's config.json. Raises ModelError where it is missing or can't be read."""
    path = folder / "config.json"
    if not path.exists():
        raise ModelError(f"{folder} is not a model: it has no config.json.")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}).") from error
    if not isinstance(raw, dict):
        raise ModelError(f"{path} holds a {type(raw).__name__}; an object was expected.")
    return raw


def load_config(folder: Path, trust_remote_code: bool = False) -> PretrainedConfig:
    """Read a model's configuration, natively where transformers has the architecture."""
    from transformers import CONFIG_MAPPING, AutoConfig

    raw = read_config(folder)
    architecture = raw.get("model_type")
    if architecture in CONFIG_MAPPING:
        raw.pop("auto_map", None)
        if architecture == "eurobert":
            _normalise_pooling(raw, folder / "config.json")
        return CONFIG_MAPPING[architecture].from_dict(raw)
    if architecture is None:
        raise ModelError(f"{folder} is not a model: its config.json names no architecture (model_type).")
    if not trust_remote_code:
        raise ModelError(
            f"{folder} has the architecture {architecture!r}, which transformers lacks; "
            "pass --trust_remote_code to run the code that comes with the model."
        )
    return AutoConfig.from_pretrained(folder, trust_remote_code=True)


def _normalise_pooling(raw: dict[str, Any], path: Path) -> None:
    """EuroBERT's remote code has `clf_pooling`; transformers has `classifier_pooling` and ignores the other."""
    remote, native = raw.pop("clf_pooling", None), raw.get("classifier_pooling")
    if remote is not None and native is not None and remote != native:
        raise ModelError(f"{path} has clf_pooling={remote!r} and classifier_pooling={native!r}; remove the wrong one.")
    pooling = remote or native or "late"
    if pooling not in ("bos", "mean", "late"):
        raise ModelError(f"{path} has the pooling {pooling!r}; 'bos', 'mean' or 'late' was expected.")
    raw["classifier_pooling"] = pooling


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read a model's fast tokenizer, without transformers where there is a tokenizer.json.

    Raises ModelError where it can't be read, MissingExtraError where a package for SentencePiece files is missing.
    """
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if path.exists():
        try:
            return Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise ModelError(f"{path} can't be read as a tokenizer: {first_line(error)}") from error
    from transformers import AutoTokenizer

    needed = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"} if list(folder.glob("*.model")) else {}
    for package, module in needed.items():
        feature = f"the tokenizer of {folder}, a SentencePiece file without a tokenizer.json,"
        import_extra(module, feature, "sentencepiece", package)
    try:
        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
        return tokenizer
    except (ValueError, TypeError, OSError, AttributeError, ImportError) as error:
        raise ModelError(f"{folder} has no fast tokenizer: {first_line(error)}") from error


def model_hashes(folder: Path) -> dict[str, str]:
    """Digests of a model's `weights`, with their configuration, and of its `tokenizer`: what its scores depend on."""
    without = [] if (folder / "tokenizer.json").exists() else ["*.model", "vocab.*", "merges.txt"]
    tokenizer = sorted(file for pattern in ["tokenizer*.json", *without] for file in folder.glob(pattern))
    int8 = [folder / name for name in INT8 if is_int8(folder)]
    weights = [folder / "config.json", *int8, *sorted(folder.glob("*.safetensors"))]
    return {"weights": hash_files(weights), "tokenizer": hash_files(tokenizer)}


def is_int8(folder: Path) -> bool:
    """Whether a folder holds an int8 judge (`judges.quantize`)."""
    return (folder / INT8[0]).exists()


def checked_hashes(folder: Path) -> dict[str, str]:
    """The hashes of a model. Raises ModelError where its `judge.json` was written for other files; many say nothing."""
    found, path = model_hashes(folder), folder / JUDGE_CONFIG
    try:
        recorded = json.loads(path.read_text(encoding="utf-8")).get("hashes") or {}
    except (OSError, ValueError, AttributeError):
        return found  # it has none, or one that can't be read, which is said where that is needed
    for name, digest in found.items():
        if recorded.get(name, digest) != digest:
            raise ModelError(
                f"the files of the {name} in {folder} are not those that its {JUDGE_CONFIG} was written for ({digest}, "
                f"not {recorded[name]}): a file is damaged, or was changed. Fetch the model again; if you changed it "
                f'yourself, remove "hashes" from {JUDGE_CONFIG}.'
            )
    return found


def tokenizer_class(folder: Path, config: Mapping[str, Any]) -> str | None:
    """The class of a model's tokenizer by its files, without "Fast" at its end; None where they name none.

    "TokenizersBackend", which transformers 5 writes, does not count.
    """
    named = _tokenizer_config(folder).get("tokenizer_class") or config.get("tokenizer_class")
    return None if named in (None, "TokenizersBackend") else str(named).removesuffix("Fast")


def tokenizer_limit(folder: Path) -> int | None:
    """The longest input in tokens by the tokenizer's configuration; None where it has no real limit."""
    limit = _tokenizer_config(folder).get("model_max_length")
    return limit if isinstance(limit, int) and 0 < limit < 1 << 24 else None  # 1e30 means none


def _tokenizer_config(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def max_input_tokens(config: Mapping[str, Any]) -> int:
    """The longest input of a model in tokens, special ones included, by its config.json.

    RoBERTa and its relatives number positions from `pad_token_id + 1`, so the ones before can't be used.
    """
    limit = config.get("max_position_embeddings") or config.get("n_positions")
    if not isinstance(limit, int) or limit <= 0:
        return 512  # models with relative positions (T5 …) have no limit, and are trained with this one
    if config.get("model_type") in _OFFSET_POSITIONS:
        return limit - int(config.get("pad_token_id") or 0) - 1
    return limit


def unlimited_input(config: Mapping[str, Any]) -> bool:
    """Whether a model's positions are relative, so that it also reads inputs longer than `max_input_tokens`."""
    return config.get("model_type") in _RELATIVE_POSITIONS


def count_layers(config: Mapping[str, Any]) -> int:
    """How many layers an encoder has (in an encoder-decoder model, its encoder), by its config.json."""
    for layers in map(config.get, _LAYER_COUNTS):
        if isinstance(layers, int):
            return layers
    raise ModelError(f"a model of the architecture {config.get('model_type')!r} does not say how many layers it has.")


def hash_files(files: Iterable[Path]) -> str:
    """Twelve hexadecimal digits for the content of files, in their order."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()[:12]
