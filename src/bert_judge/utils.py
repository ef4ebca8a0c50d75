"""Loading models from the Hub, a folder or `LOCAL_MODELS_DIR`: safetensors only, and no remote code unless allowed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_judge.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PretrainedConfig, PreTrainedModel

STARTER = "starter"
"""The name of the judge that ships inside this package."""

STARTER_FOLDER = Path(__file__).parent / "starter"

_HEAD_READS_FIRST_TOKEN = frozenset(["bert", "roberta", "xlm-roberta"])
_OFFSET_POSITIONS = frozenset(
    ["roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "roberta-prelayernorm", "xmod"]
)


def find_model(path: str, with_code: bool = False) -> Path:
    """The folder of a model: the starter, a folder, one under `LOCAL_MODELS_DIR`, or the Hub's (downloaded once).

    `LOCAL_MODELS_DIR` holds models under the last part of their name: `org/model` is looked for as `model`, then as
    `org/model`. Raises ModelError with what was tried.
    """
    if path == STARTER:
        return STARTER_FOLDER
    local = os.environ.get("LOCAL_MODELS_DIR")
    tried = [Path(local) / path.split("/")[-1], Path(local) / path] if local else []
    tried.append(Path(path))
    for folder in map(Path, map(os.path.expanduser, tried)):
        if folder.is_dir():
            return folder
        if folder.is_file():
            raise ModelError(f"{folder} is a file; a model's folder, a name on the Hub, or {STARTER!r} was expected.")
    return _download(path, tried, ["*.py"] if with_code else [])


def _download(path: str, tried: list[Path], code: list[str]) -> Path:
    """Fetch a model from the Hub into its cache: configuration, tokenizer, safetensors; no pickles, no code unasked."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    try:
        return Path(snapshot_download(path, allow_patterns=["*.json", "*.safetensors", "*.model", "*.txt", *code]))
    except HFValidationError:
        reason = "and it is no name that the Hub could know"
    except (LocalEntryNotFoundError, OfflineModeIsEnabled):
        reason = "it is not in the Hub's cache, and the Hub can't be reached or HF_HUB_OFFLINE is set"
    except HfHubHTTPError as error:
        reason = (
            f"and the Hub answered {error.response.status_code}: no public model of this name, or a token is needed"
        )
    places = ", ".join(str(folder) for folder in tried)
    raise ModelError(
        f"the model {path!r} was not found: there is no folder {places}, {reason}; "
        f"give a folder, a name on the Hub, or {STARTER!r}."
    )


def load_hf_encoder(
    path: str,
    trust_remote_code: bool = False,
    dtype: str = "auto",
    *,
    new_head: bool = False,
    attention_dropout: float | None = None,
) -> PreTrainedModel:
    """Load an encoder with a two-way classification head, in evaluation mode.

    `dtype` is a torch name ("float32", "bfloat16", "float16") or "auto" for the one the weights are stored in. With
    `new_head` a missing head starts at random, for training; otherwise a model without a trained one is refused.
    `trust_remote_code` permits code from the model's folder where transformers lacks the architecture; one that it
    has is always loaded natively. `attention_dropout` replaces the model's own.
    Raises ModelError with what was expected.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification

    folder = find_model(path, trust_remote_code)
    config = load_config(folder, trust_remote_code)
    if not new_head and config.num_labels != 2:
        raise ModelError(
            f"{folder} has a head with {config.num_labels} output(s); a judge has two (wrong, right). "
            "Is this a reward model or a similarity model?"
        )
    config.num_labels = 2
    for name in ("attention_probs_dropout_prob", "attention_dropout"):
        if attention_dropout is not None and hasattr(config, name):
            setattr(config, name, attention_dropout)
    if not list(folder.glob("*.safetensors")):
        pickles = ", ".join(sorted(file.name for file in folder.glob("*.bin")))
        found = f"only {pickles}, a pickle that can run code" if pickles else "no weights"
        raise ModelError(f"{folder} has {found}; model.safetensors was expected (convert it with save_pretrained).")
    try:
        with quiet_transformers():
            model, info = AutoModelForSequenceClassification.from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                trust_remote_code=hasattr(config, "auto_map"),
                output_loading_info=True,
                ignore_mismatched_sizes=new_head,
            )
    except (ValueError, OSError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(f"{folder} can't be loaded as an encoder: {_first_line(error)}") from error
    missing = sorted(info["missing_keys"])
    if missing and not new_head:
        raise ModelError(
            f"{folder} is no judge: its weights lack {', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}; "
            "a model trained for sequence classification was expected."
        )
    return model.eval()


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and no reports of transformers: what matters of them is looked at here."""
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


def first_token_only(model: PreTrainedModel) -> PreTrainedModel:
    """Let the last layer work on the first token alone, where the head reads no other: the same logits for less.

    In a judge of six layers this is a tenth of all arithmetic. The attention still sees every token.
    """

    def first(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(hidden[:, :1] for hidden in inputs)

    if model.config.model_type in _HEAD_READS_FIRST_TOKEN:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(first)
    return model


def read_config(folder: Path) -> dict[str, Any]:
    """A model's config.json, as it stands there."""
    path = folder / "config.json"
    if not path.exists():
        raise ModelError(f"{folder} is no model: it has no config.json.")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}).") from error
    if not isinstance(raw, dict):
        raise ModelError(f"{path} holds a {type(raw).__name__}; an object was expected.")
    return raw


def load_config(folder: Path, trust_remote_code: bool = False) -> PretrainedConfig:
    """Read a model's configuration; natively where transformers has the architecture, whatever the file says."""
    from transformers import CONFIG_MAPPING, AutoConfig

    raw = read_config(folder)
    architecture = raw.get("model_type")
    if architecture in CONFIG_MAPPING:
        raw.pop("auto_map", None)
        if architecture == "eurobert":
            _normalise_pooling(raw, folder / "config.json")
        return CONFIG_MAPPING[architecture].from_dict(raw)
    if not trust_remote_code:
        raise ModelError(
            f"{folder} has the architecture {architecture!r}, which transformers lacks; "
            "pass --trust_remote_code to run the code that comes with the model."
        )
    return AutoConfig.from_pretrained(folder, trust_remote_code=True)


def _normalise_pooling(raw: dict[str, Any], path: Path) -> None:
    """EuroBERT's remote code says `clf_pooling` where transformers says `classifier_pooling` and ignores the other."""
    remote, native = raw.pop("clf_pooling", None), raw.get("classifier_pooling")
    if remote is not None and native is not None and remote != native:
        raise ModelError(f"{path} has clf_pooling={remote!r} and classifier_pooling={native!r}; remove the wrong one.")
    pooling = remote or native or "late"
    if pooling not in ("bos", "mean", "late"):
        raise ModelError(f"{path} has the pooling {pooling!r}; 'bos', 'mean' or 'late' was expected.")
    raw["classifier_pooling"] = pooling


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read the fast tokenizer of a model; without importing transformers where there is a tokenizer.json."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if path.exists():
        try:
            return Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise ModelError(f"{path} can't be read as a tokenizer: {_first_line(error)}") from error
    from transformers import AutoTokenizer

    try:
        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
        return tokenizer
    except (ValueError, OSError, AttributeError, ImportError) as error:
        raise ModelError(f"{folder} has no fast tokenizer: {_first_line(error)}") from error


def max_input_tokens(config: Mapping[str, Any]) -> int:
    """The longest input that a model reads, in tokens, special ones included, from its config.json.

    RoBERTa and its kin number their positions from `pad_token_id + 1`, so that many can't be used.
    """
    limit = config.get("max_position_embeddings") or config.get("n_positions")
    if not isinstance(limit, int) or limit <= 0:
        return 512  # relative positions (T5 …): no limit of their own, and what they are trained with
    if config.get("model_type") in _OFFSET_POSITIONS:
        return limit - int(config.get("pad_token_id") or 0) - 1
    return limit


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]


def has_native_bf16() -> bool:
    """Whether this machine's processor multiplies bfloat16 matrices itself (AMX or AVX-512 BF16, or Arm's BF16)."""
    import torch

    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("amx_bf16", "avx512_bf16", "bf16"))
