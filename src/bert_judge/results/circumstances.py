"""What `run.json` says of how a run went."""

from __future__ import annotations

import os
import platform
import time
from typing import Any

from bert_judge.records import versions


def circumstances(start: float, seconds: float, rows: int) -> dict[str, Any]:
    """When a run was made, how fast, with which versions and on what machine."""
    return {
        "timings": {
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(start)),
            "seconds": round(seconds, 3),
            "rows": rows,
            "rows_per_second": round(rows / seconds, 1) if seconds else None,
        },
        "versions": versions("torch", "transformers", "tokenizers", "openvino", "numpy"),
        "machine": {"platform": platform.platform(), "cores": os.cpu_count()},
    }
