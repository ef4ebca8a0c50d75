"""Weights of tokens by their inverse document frequency among the references."""

from __future__ import annotations

import hashlib
import json
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bert_judge.errors import InputError, OutputError

Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Idf:
    """In how many of `documents` references each token occurs; can be saved, so that later scores are comparable.

    The weight of a token is log((documents + 1) / (count + 1)) (arXiv 1904.09675, section 3, with bert-score's
    smoothing). `tokenizer` is the hash of the tokenizer whose ids are counted.
    """

    documents: int
    tokenizer: str
    counts: Mapping[int, int]

    @classmethod
    def count(cls, documents: Iterable[Iterable[int]], tokenizer: str) -> Idf:
        """Count the tokens of references, each a document."""
        counts: Counter[int] = Counter()
        total = 0
        for ids in documents:
            counts.update(set(ids))
            total += 1
        return cls(total, tokenizer, dict(sorted(counts.items())))

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of a hash of the counts, and the number of documents."""
        content = json.dumps([self.documents, sorted(self.counts.items())]).encode()
        return f"{hashlib.sha256(content).hexdigest()[:8]}({self.documents})"

    def weights(self, vocabulary: int) -> Weights:
        """The weight of each id of the vocabulary. Raises InputError for an id that is not in the vocabulary."""
        if any(token >= vocabulary for token in self.counts):
            raise InputError("the idf counts hold an id that the model's tokenizer does not have; count them again.")
        counts = np.zeros(vocabulary)
        counts[list(self.counts)] = list(self.counts.values())
        return np.log((self.documents + 1) / (counts + 1)).astype(np.float32)

    def save(self, path: Path) -> None:
        """Write the counts as JSON."""
        try:
            path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"the idf file {path} can't be written ({error.strerror}).") from error

    @classmethod
    def load(cls, path: Path, tokenizer: str) -> Idf:
        """Read what `save` wrote. Raises InputError for anything else, and for counts of another tokenizer."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            counts = {int(token): int(count) for token, count in content["counts"].items()}
            idf = cls(int(content["documents"]), str(content["tokenizer"]), counts)
            if not all(token >= 0 and 0 < count <= idf.documents for token, count in counts.items()):
                raise ValueError("a token is in no document, or in more than there are")
        except OSError as error:
            raise InputError(f"the idf file {path} can't be read ({error.strerror}).") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} is not an idf file (documents, tokenizer and counts were expected): {error}."
            ) from error
        if idf.tokenizer != tokenizer:
            raise InputError(
                f"{path} was counted with another tokenizer ({idf.tokenizer}, this model's is {tokenizer}); "
                "count the references again with this model."
            )
        return idf


def dictionary_weights(dictionary: Mapping[int, float], vocabulary: int) -> Weights:
    """The weight of each id from a dictionary; missing ids get its default (defaultdict) or its largest value.

    Raises InputError for keys that are not ids, and for weights that are not finite numbers of at least 0.
    """
    weight_of: dict[int, float] = {}
    for token, weight in dictionary.items():
        try:
            weight_of[operator.index(token)] = float(weight)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"the idf dictionary holds {token!r}: {weight!r}; ids of tokens and numbers were expected."
            ) from error
    if isinstance(dictionary, defaultdict) and dictionary.default_factory is not None:
        missing = dictionary.default_factory()
    else:
        missing = max(weight_of.values(), default=1.0)
    weights = np.array([weight_of.get(token, missing) for token in range(vocabulary)], np.float32)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("the idf dictionary holds a weight that is not a finite number of at least 0.")
    return weights
