"""The weights of bert-judge's larger judge: `--judge large`, and after the starter `--judge starter-large`."""

from pathlib import Path

WEIGHTS = Path(__file__).parent / "weights"
"""The folder of the judge."""

CASCADE = WEIGHTS / "cascade.json"
"""The thresholds of the starter before it."""
