"""Pages of reports in a browser: opened so that nothing may be fetched, and the console stays empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import PATIENCE

ALL_READ = "html[data-read=all]"


@contextmanager
def opened_pages(browser: Any, page_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page anew, this one unless another is named; at the end nothing was fetched, and the console is empty."""
    told: list[str] = []
    contexts = []

    def show(fragment: str = "", width: int = 1400, path: Path = page_path, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1_000 * PATIENCE)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or told.append(request.url))
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector(ALL_READ)
        if fragment.startswith("#row="):
            page.wait_for_selector("#detail[open]")
        return page

    yield show
    for context in contexts:
        context.close()
    assert told == []


# The contrast of every text with what is behind it, where it is under 4.5 (3 for large text), as WCAG 2 AA counts it.
FAINT = """() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const paint = (colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const own = (element) => getComputedStyle(element).backgroundColor;
  const behind = (element) => (element ? [...behind(element.parentElement), own(element)] : ['#fff']);
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest('script, style, title, option, .quiet, .skip, :disabled')) continue;
    const style = getComputedStyle(element), under = behind(element), size = parseFloat(style.fontSize);
    const [a, b] = [paint(under), paint([...under, element.closest('svg') ? style.fill : style.color])];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const name = `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`;
    if (ratio < least) found.add(`${ratio.toFixed(2)} ${name}`);
  }
  return [...found];
}"""
