"""Make the pictures of the documentation anew: `python docs/pictures.py`, with Chromium and the packages of [dev]."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PROJECT = Path(__file__).parents[1]
IMAGES = PROJECT / "docs" / "images"
ANSWERS = PROJECT / "examples" / "answers.jsonl"
MODELS = PROJECT / "examples" / "three_models.csv"
READ = "html[data-read=all]"


def main() -> None:
    browsers = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, browsers)), None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        columns = "model_a,model_b,model_c"
        run("score", MODELS, "--candidates", columns, "--output_dir", folder / "models", "--quiet")
        run("score", ANSWERS, "--output_dir", folder / "why", "--explain", "98", "--quiet")
        browser = playwright.chromium.launch(executable_path=path)
        report(browser.new_page(viewport={"width": 1280, "height": 900}), folder / "models-suite.html")
        why(browser.new_page(viewport={"width": 1280, "height": 900}), folder / "why" / "report.html")
        server(browser.new_page(viewport={"width": 1100, "height": 560}))
        browser.close()


def report(page: Page, path: Path) -> None:
    """The answers of three models."""
    page.goto(f"{path.as_uri()}#models=models+differ")
    page.wait_for_selector(READ)
    page.evaluate("document.getElementById('quick').scrollIntoView()")
    page.screenshot(path=IMAGES / "report.png")


def why(page: Page, path: Path) -> None:
    """An answer whose score is explained."""
    page.goto(f"{path.as_uri()}#search=%22Percy+Bysshe%22")
    page.wait_for_selector(READ)
    page.locator("#table .open").first.click()
    page.wait_for_selector("#detail[open]")
    page.locator("#detail").screenshot(path=IMAGES / "report-why.png")


def server(page: Page) -> None:
    """The page of the server, tried."""
    command = [sys.executable, "-m", "bert_judge", "serve", "--judge", "starter,containment", "--port", "0"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = next(line for line in process.stdout if " at http://" in line)
        page.goto(words.partition(" at ")[2].partition(";")[0])
        page.locator("#judges", has_text="containment").wait_for()
        page.fill("#candidate", "I first thought of Canberra. No, wait: it is Sydney.")
        page.click("#judge")
        page.wait_for_selector("#why:not([hidden])")
        page.screenshot(path=IMAGES / "server-page.png")
        process.terminate()


def run(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "bert_judge", *map(str, words)], cwd=PROJECT, check=True)


if __name__ == "__main__":
    main()
