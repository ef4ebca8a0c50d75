"""LaTeX that we print: checked piece by piece, and compiled where there is a pdflatex."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

_BEGIN = re.compile(r"\\(begin|end)\{(table|tabular|enumerate|itemize)\}(?:\{([lr]+)\})?")
_PIECES = re.compile(
    r"\\(?:centering|toprule|midrule|bottomrule|item|par|smallskip|footnotesize)(?![A-Za-z])"
    r"|\\(?:caption|paragraph)(?=\{)|\\[{}$&#%_]|\\[\^~]\{\}|\$(?:[<>|-]|\\backslash)\$|\\\\$|\{\}`\{\}"
)


def check_latex(text: str, folder: Path) -> None:
    """Every command is one of ours, every special letter escaped, every row of a table as wide as its columns."""
    opened: list[str] = []
    columns = 0
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert r"\usepackage{booktabs}" in text and lines
    for line in lines:
        cells = line.replace(r"\&", "").count("&") + 1
        if begun := _BEGIN.search(line):
            if begun[1] == "begin":
                opened.append(begun[2])
            else:
                assert opened.pop() == begun[2], line
            columns = len(begun[3] or "") or columns
        elif opened[-1:] == ["tabular"] and line.endswith(r"\\"):
            assert cells == columns, line
            assert not line.startswith(("[", "*")), line
        else:
            assert cells == 1, line
        rest = _PIECES.sub("", _BEGIN.sub("", line)).replace("&", "")
        rest = re.sub(r"(?:(?<=^)|(?<=  ))--(?=  |$| $)", "", rest)  # cells without a value
        assert not re.search(r"[\\$#%_^~<>|\"`\x00-\x1f\x7f]|--", rest), line
        depth = 0
        for brace in re.findall("[{}]", rest):
            depth += 1 if brace == "{" else -1
            assert depth >= 0, line
        assert depth == 0, line
    assert not opened
    if shutil.which("pdflatex") and all(letter < "\u0250" or letter in "…–’“”" for letter in text):
        head = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        (folder / "paper.tex").write_text(f"{head}{text}\n\\end{{document}}\n")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
