"""What makes two runs the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bert_judge.records import Signature


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two runs the same: the judge's signature, the input's bytes, and the options that change the result.

    The signature is None where it is not known yet, as no model is loaded.
    """

    signature: Signature | None
    input_sha256: str
    options: Mapping[str, Any]

    def difference(self, found: Mapping[str, Any]) -> str:
        """What differs in the record of a run, in words; empty if nothing does."""
        theirs, options = found["options"], json.loads(json.dumps(self.options))
        parts = []
        if self.signature and (signature := Signature.of(found["signature"])) != self.signature:
            parts.append(f"another judge ({signature.difference(self.signature)})")
        if found["input_sha256"] != self.input_sha256:
            parts.append("another input")
        if theirs != options:
            names = [name for name in {**options, **theirs} if theirs.get(name) != options.get(name)]
            changed = [f"{name}: {json.dumps(theirs.get(name))}, not {json.dumps(options.get(name))}" for name in names]
            parts.append(f"other options ({', '.join(changed)})")
        return " and ".join(parts)
