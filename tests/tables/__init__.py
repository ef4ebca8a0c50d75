"""Tables of cases that are data: a row is what is given, and at its end what is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def table(name: str) -> Any:
    """The rows of NAME.yaml beside this file, or its tables by their names."""
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))
