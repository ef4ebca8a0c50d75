"""An alignment as a page for a browser: SVG written from the data, with a little script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from bert_judge.bertscore.alignment import AlignedText, Alignment
from bert_judge.bertscore.captions import LEGEND, clip, lowest, matches, measure, remarks, scores


def to_html(alignment: Alignment) -> str:
    """A page that needs nothing else: the heat map as SVG; a token that is pointed at shows its matches."""
    texts = {"candidate": alignment.candidate, "reference": alignment.reference}
    told = {name: _tell(alignment, name) for name in texts}
    data = alignment.to_json().replace("<", "\\u003c")  # no text can end the script
    rows = "".join(
        f"<tr><td>{name}<td>{escape(token)}<td>{weight:.3f}<td>{escape(sentence)}"
        for name, text in texts.items()
        for token, weight, sentence in zip(text.tokens, text.weights, told[name], strict=True)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>BERTScore: {scores(alignment)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{scores(alignment)}</h1>
<p>{escape(" · ".join(remarks(alignment)))}</p>
<p class="legend"><span class="candidate">▶</span> {LEGEND[0]}
<span class="reference">▼</span> {LEGEND[1]} <i>rows: candidate, columns: reference, bars: weights,
colours: {measure(alignment)}, {lowest(alignment):g} (and less) to 1</i></p>
<div>{_svg(alignment, told)}</div>
<output aria-live="polite">Point at a token or a cell, or go to the tokens with Tab and the arrow keys.</output>
<details><summary>All tokens as a table</summary>
<table><tr><th>text<th>token<th>weight<th>matches{rows}</table></details>
<footer>{escape(str(alignment.signature).replace("|", " | "))}</footer>
<script type="application/json" id="data">{data}</script>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _tell(alignment: Alignment, name: str) -> list[str]:
    """For each token of a text in words: what it matches, and which tokens match it."""
    texts, lines = (alignment.candidate, alignment.reference), alignment.similarity
    if name == "reference":
        texts, lines = texts[::-1], tuple(zip(*lines, strict=True))
    chosen_by: dict[int, list[str]] = {}
    for other, match in enumerate(texts[1].matches):
        if match is not None:
            chosen_by.setdefault(match, []).append(f"“{texts[1].tokens[other]}” ({lines[match][other]:.3f})")
    told = []
    for token, match in enumerate(texts[0].matches):
        best = (
            f"best match “{texts[1].tokens[match]}” ({lines[token][match]:.3f})" if match is not None else "no weight"
        )
        told.append(f"{best}; best match of {', '.join(chosen_by.get(token, ['none']))}")
    return told


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where things are on the page, in pixels: the heat map's upper left corner is at `left`, `top`."""

    cell: float
    font: float
    left: float
    top: float
    turn: int

    @classmethod
    def of(cls, names: Sequence[Sequence[str]]) -> _Grid:
        """For rows and columns with these names."""
        cell = round(min(44.0, max(14.0, 760 / max(map(len, names)))), 1)
        font = min(14.0, 0.85 * cell)
        turn = 45 if cell > 30 else 90
        long = [max(sum(1.05 if east_asian_width(c) in "WF" else 0.62 for c in n) for n in side) for side in names]
        return cls(cell, font, long[0] * font + 14, long[1] * font * math.sin(math.radians(turn)) + 20, turn)

    def label(self, name: str, place: int) -> str:
        """The attributes of a token's text."""
        if name == "candidate":
            return f'x="{self.left - 8:.1f}" y="{self.top + (place + 0.5) * self.cell:.1f}" text-anchor="end"'
        x, y = self.left + (place + 0.5) * self.cell, self.top - 8
        return f'x="{x:.1f}" y="{y:.1f}" transform="rotate(-{self.turn} {x:.1f} {y:.1f})"'


def _svg(alignment: Alignment, told: Mapping[str, Sequence[str]]) -> str:
    texts = {"candidate": alignment.candidate, "reference": alignment.reference}
    names = {name: [clip(token) for token in text.tokens] for name, text in texts.items()}
    grid = _Grid.of(list(names.values()))
    wide, high = (len(names[name]) * grid.cell for name in ("reference", "candidate"))
    width, height = grid.left + wide + max(60.0, grid.top), grid.top + high + 60
    ends = {"candidate": grid.left + wide, "reference": grid.top + high}
    tokens = "".join(
        f'<g class="{name}" role="listbox" aria-label="{name} tokens">'
        f"{_svg_tokens(name, text, names[name], told[name], grid, ends[name])}</g>"
        for name, text in texts.items()
    )
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" font-size="{grid.font:.1f}" '
        f'data-grid="{grid.cell} {grid.left:.1f} {grid.top:.1f}">'
        f'<g transform="translate({grid.left:.1f} {grid.top:.1f})">{_svg_cells(alignment, grid.cell)}'
        f'<rect id="row" class="band" width="{wide:.1f}" height="{grid.cell}"/>'
        f'<rect id="column" class="band" width="{grid.cell}" height="{high:.1f}"/></g>{tokens}</svg>'
    )


def _svg_cells(alignment: Alignment, cell: float) -> str:
    """Cells of one colour are one path; triangles mark the matches; values are written where there is room."""
    low, inner = lowest(alignment), cell - 1
    paths: dict[int, list[str]] = {}
    values = []
    for row, line in enumerate(alignment.similarity):
        for column, value in enumerate(line):
            level = max(0, min(20, round(20 * (value - low) / (1 - low))))
            x, y = column * cell, row * cell
            paths.setdefault(level, []).append(f"M{x:.1f} {y:.1f}h{inner:.1f}v{inner:.1f}h-{inner:.1f}z")
            if cell > 34:
                style = ' class="over"' if level > 10 else ""
                values.append(f'<text{style} x="{x + cell * 0.54:.1f}" y="{y + cell * 0.6:.1f}">{value:.2f}</text>')
    heat = "".join(f'<path fill-opacity="{level / 20}" d="{"".join(path)}"/>' for level, path in sorted(paths.items()))
    rows, columns = matches(alignment)
    part = cell * (0.12 if cell > 34 else 0.32)
    tip = 1.4 * part
    right = [
        f"M{c * cell + 1:.1f} {(r + 0.5) * cell - part:.1f}l{tip:.1f} {part:.1f}l-{tip:.1f} {part:.1f}z"
        for r, c in rows
    ]
    down = [
        f"M{(c + 0.5) * cell - part:.1f} {r * cell + 1:.1f}h{2 * part:.1f}l-{part:.1f} {tip:.1f}z" for r, c in columns
    ]
    return (
        f'<g class="heat">{heat}</g><g class="values">{"".join(values)}</g>'
        f'<path class="mark candidate" d="{"".join(right)}"/><path class="mark reference" d="{"".join(down)}"/>'
    )


def _svg_tokens(
    name: str, text: AlignedText, names: Sequence[str], told: Sequence[str], grid: _Grid, end: float
) -> str:
    """The tokens of a text and the bars of their weights, which begin at `end`."""
    highest = max(text.weights)
    parts = []
    for place, (token, weight) in enumerate(zip(text.tokens, text.weights, strict=True)):
        spoken = escape(f"{name} token “{token}”, weight {weight:.3f}: {told[place]}")
        kind = "special" if text.special[place] else ""
        parts.append(
            f'<text class="{kind}" role="option" tabindex="{-min(place, 1)}" data-side="{name}" data-index="{place}" '
            f'aria-label="{spoken}" {grid.label(name, place)}>{escape(names[place])}</text>'
        )
        long, wide = 44 * weight / highest, 0.7 * grid.cell
        x, y = end + 6, (grid.left, grid.top)[name == "candidate"] + (place + 0.15) * grid.cell
        if name == "reference":
            x, y, long, wide = y, x, wide, long
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{long:.1f}" height="{wide:.1f}"/>')
    return "".join(parts)


_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1b1b; --faint: #6b6b6b; --heat: #08519c; --over: #fff;
  --candidate: #c04f00; --reference: #222 }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e8e8e8; --faint: #9a9a9a; --heat: #8cc4ff;
  --over: #0b1520; --candidate: #ff9d4d; --reference: #f4f4f4 } }
body { margin: 1.5rem; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif }
h1 { font-size: 1.3rem; margin: 0; white-space: pre-wrap }
p, footer { color: var(--faint); margin: .2rem 0 }
footer { font-size: .75rem; margin-top: 1rem; overflow-wrap: anywhere }
.legend span { color: var(--candidate) } .legend span.reference { color: var(--reference); margin-left: 1em }
.legend i { margin-left: 1em }
div { overflow-x: auto }
svg { display: block; margin-top: 1rem; fill: var(--ink) }
.heat { fill: var(--heat) } .values { font-size: 11px; text-anchor: middle; pointer-events: none }
.over { fill: var(--over) }
.mark { stroke: var(--paper); stroke-width: .7; pointer-events: none }
.mark.candidate, .candidate rect { fill: var(--candidate) } .mark.reference, .reference rect { fill: var(--reference) }
.band { fill: none; stroke: var(--ink); stroke-width: 2; visibility: hidden; pointer-events: none }
[role=option] { cursor: default; dominant-baseline: central; outline-offset: 2px }
[role=option].special { fill: var(--faint); font-style: italic }
[role=option].on { font-weight: bold; text-decoration: underline }
output { display: block; position: sticky; bottom: 0; min-height: 4.4em; padding: .5rem 0; white-space: pre-line;
  background: var(--paper); border-top: 1px solid var(--faint) }
td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top }
"""

_SCRIPT = """
const data = JSON.parse(document.getElementById("data").textContent);
const svg = document.querySelector("svg"), said = document.querySelector("output");
const [cell, left, top_] = svg.dataset.grid.split(" ").map(Number);
const tokens = {candidate: [], reference: []};
for (const token of svg.querySelectorAll("[role=option]")) tokens[token.dataset.side].push(token);

function frame(side, id, axis, index) {
  const band = document.getElementById(id);
  band.style.visibility = index === null ? "hidden" : "visible";
  if (index !== null) band.setAttribute(axis, index * cell - 0.5);
  tokens[side].forEach((token, place) => token.classList.toggle("on", place === index));
}
function show(row, column, words) {
  frame("candidate", "row", "y", row);
  frame("reference", "column", "x", column);
  said.textContent = words;
}
function showToken(side, index) {
  const match = data[side].matches[index], words = tokens[side][index].getAttribute("aria-label");
  side === "candidate" ? show(index, match, words) : show(match, index, words);
}
function showCell(row, column) {
  const pair = [tokens.candidate[row], tokens.reference[column]].map(token => token.getAttribute("aria-label"));
  show(row, column, `similarity ${data.similarity[row][column].toFixed(3)}\\n${pair.join("\\n")}`);
}
svg.addEventListener("pointermove", event => {
  const {side, index} = event.target.dataset, box = svg.getBoundingClientRect();
  if (side) return showToken(side, Number(index));
  const row = Math.floor((event.clientY - box.top - top_) / cell);
  const column = Math.floor((event.clientX - box.left - left) / cell);
  if (row in tokens.candidate && column in tokens.reference) showCell(row, column);
});
svg.addEventListener("focusin", event => {
  const {side, index} = event.target.dataset;
  tokens[side].forEach(token => { token.tabIndex = token === event.target ? 0 : -1; });
  showToken(side, Number(index));
});
svg.addEventListener("keydown", event => {
  const {side, index} = event.target.dataset, last = tokens[side].length - 1, here = Number(index);
  const place = {ArrowUp: here - 1, ArrowLeft: here - 1, ArrowDown: here + 1, ArrowRight: here + 1, Home: 0, End: last};
  if (!(event.key in place)) return;
  event.preventDefault();
  tokens[side][Math.max(0, Math.min(last, place[event.key]))].focus();
});
"""
