"""Files outside of docs/ that are pages of the site, and the links to them (a hook of MkDocs)."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PAGES = {
    "src/bert_judge/starter/README.md": "starter-card.md",
    "recipes/starter/RESULTS.md": "starter-results.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "src/bert_judge/studies/audit/attacks.json": "attacks.json",
    "src/bert_judge/studies/audit/invariances.json": "invariances.json",
}
"""From the path in the repository to that in the site."""

_LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(?=[#)])")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    project = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(project / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links go to where the files are in the site; what MkDocs then does not find is an error of the strict build."""
    here = page.file.src_uri
    source = {name: path for path, name in PAGES.items()}.get(here, f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[0]))
        target = PAGES.get(target) or target.removeprefix("docs/")
        return posixpath.relpath(target, posixpath.dirname(here) or ".")

    return _LINK.sub(moved, markdown)
