"""A browser for the pages; where there is none, its tests are skipped, and the end of the run says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MISSING = "there is no Chromium (or no package playwright): pages are NOT tested in a browser"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium: the one of BERT_JUDGE_CHROMIUM, else of the system, else playwright's own."""
    api = pytest.importorskip("playwright.sync_api", reason=_MISSING)
    path = os.environ.get("BERT_JUDGE_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    with api.sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=path)
        except api.Error as error:
            pytest.skip(f"{_MISSING} ({str(error).splitlines()[0]})")
        yield found
        found.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say it where browser tests were skipped."""
    if any(_MISSING in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_line(f"WARNING: {_MISSING}", red=True, bold=True)
