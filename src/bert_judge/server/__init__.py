"""Judges over HTTP, and pages for the browser: try a judge, get the report of a file, label answers."""

from __future__ import annotations

from bert_judge.errors import import_extra


def need_server(feature: str) -> None:
    """Raises MissingExtraError, naming the feature, if the extra [server] is not installed."""
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        import_extra(package, feature, "server", package.replace("_", "-"))
