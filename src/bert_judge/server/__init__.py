"""Judges over HTTP, and pages to work with in a browser: try a judge, read a file's report, label answers."""

from __future__ import annotations

from bert_judge.errors import import_extra


def need_server(feature: str) -> None:
    """Raises MissingExtraError, about the feature that needs it, where the extra [server] is not installed."""
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        import_extra(package, feature, "server", package.replace("_", "-"))
