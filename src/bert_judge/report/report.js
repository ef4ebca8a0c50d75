"use strict";

// The rows of this page are columns: those that filters read in #columns, the texts in #texts-0, #texts-1 …, each gzip
// in base64 and read once. A verdict is one letter: 1 correct, 0 incorrect, ? undecided, - a score alone, space not judged.
// Texts are a model's: they enter the page as text alone, never as markup.

const part = (id) => document.getElementById(id);
const facts = JSON.parse(part("facts").textContent);
const number = new Intl.NumberFormat("en");
const CHUNKS = Math.ceil(facts.rows / facts.chunk);
const VERDICTS = {
  1: ["✓ correct", "is-right"], 0: ["✗ incorrect", "is-wrong"], "?": ["? undecided", "is-undecided"], "-": ["", "is-none"],
  " ": ["not judged", "is-none"],
};
const COLUMNS = [
  { key: "q", name: "question", kind: "q" }, { key: "r", name: "reference", kind: "r" }, { key: "c", name: "candidate", kind: "c" },
  ...(facts.labels ? [{ key: "v", name: "human label", kind: "v", sort: "gold" }] : []),
  ...facts.judges.map((judge, i) => ({ key: `s${i}`, name: judge.name, kind: "s", sort: String(i) })),
];
const widths = new Map(); // of the columns that were drawn wider or narrower, in pixels
let columns = null;
let complete = null; // a promise: the whole page has arrived
const state = { shown: [], page: 0, size: 25, sort: "", descending: true, open: -1, run: 0 };

// ---- reading ----------------------------------------------------------------------------------------------------

async function unpacked(id) {
  const element = part(id);
  const text = element.textContent;
  element.remove();
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
  else {
    const letters = atob(text);
    bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  }
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const texts = []; // the chunks, as promises
const ready = []; // the chunks that are there
function chunk(index) {
  texts[index] ??= (part(`texts-${index}`) ? Promise.resolve() : complete)
    .then(() => unpacked(`texts-${index}`))
    .then((read) => (ready[index] = read));
  return texts[index];
}

// A number in the place of a question or of references is the row that has them; it comes before.
async function field(row, name) {
  const value = (await chunk(Math.floor(row / facts.chunk)))[name][row % facts.chunk];
  return Number.isInteger(value) ? field(value, name) : value;
}

function fieldNow(row, name) {
  const value = ready[Math.floor(row / facts.chunk)][name][row % facts.chunk];
  return Number.isInteger(value) ? fieldNow(value, name) : value;
}

async function answer(row) {
  const own = await chunk(Math.floor(row / facts.chunk)), at = row % facts.chunk;
  return {
    row, id: own.id[at], candidate: own.candidate[at], marks: own.marks[at], more: own.more[at] || {},
    question: await field(row, "question"), references: await field(row, "references"),
    said: own.said.map((judge) => judge[at] || ["", -1, 0, 0, "", 0]),
  };
}

// ---- making elements --------------------------------------------------------------------------------------------

function make(name, settings = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(settings)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.startsWith("aria")) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...content.filter((each) => each !== null && each !== ""));
  return element;
}

function shape(name, settings, ...content) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(settings)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}

const said = (text) => (text ? text : make("span", { className: "empty" }, text === null ? "(no text)" : "(empty)"));

function verdict(judge, row) {
  const [words, kind] = VERDICTS[columns.verdict[judge][row]];
  const score = columns.score[judge][row];
  return make("span", { className: `verdict ${kind}` }, [words, score === null ? "" : score.toFixed(3)].filter(Boolean).join(" "));
}

const against = (judge, row) => "01".includes(columns.verdict[judge][row]) && columns.gold[row] !== " " && columns.gold[row] !== columns.verdict[judge][row];

// What is to be seen of a verdict besides itself.
function flags(judge, row) {
  const names = [against(judge, row) ? "≠ human label" : "", columns.cut[judge][row] === "1" ? "truncated" : "",
    columns.outside[judge][row] === "1" ? "outside" : ""];
  return names.filter(Boolean).map((name) => make("span", { className: "flag" }, name));
}

function label(row) {
  const gold = columns.gold[row];
  return gold === " " ? make("span", { className: "is-none" }, "–") : make("span", { className: `verdict ${VERDICTS[gold][1]}` }, VERDICTS[gold][0]);
}

// ---- filters ----------------------------------------------------------------------------------------------------

const judgeNow = () => Number(part("f-judge")?.value ?? 0);
const differ = (row) => new Set(columns.verdict.map((of) => of[row]).filter((v) => v === "0" || v === "1")).size > 1;

function tests() {
  const judge = judgeNow(), of = columns.verdict[judge], score = columns.score[judge], found = [];
  facts.facets.forEach((facet, i) => {
    const wanted = part(`f-${i}`).value;
    if (wanted !== "") found.push((row) => columns.facets[i][row] === Number(wanted));
  });
  const wanted = part("f-verdict").value;
  if (wanted) found.push((row) => of[row] === wanted);
  const gold = part("f-gold")?.value;
  if (gold === "same") found.push((row) => columns.gold[row] !== " " && columns.gold[row] === of[row]);
  else if (gold === "other") found.push((row) => against(judge, row));
  else if (gold) found.push((row) => columns.gold[row] === (gold === "none" ? " " : gold));
  const [low, high] = [part("f-low").value, part("f-high").value];
  if (low !== "") found.push((row) => score[row] !== null && score[row] >= Number(low));
  if (high !== "") found.push((row) => score[row] !== null && score[row] <= Number(high));
  if (part("f-cut").checked) found.push((row) => columns.cut.some((each) => each[row] === "1"));
  if (part("f-outside")?.checked) found.push((row) => columns.outside.some((each) => each[row] === "1"));
  if (part("f-why")?.checked) found.push((row) => columns.why.some((each) => each[row] === "1"));
  if (part("f-differ")?.checked) found.push(differ);
  return found;
}

// Words in any order, or "a phrase", each as it stands anywhere in the texts, without regard to case.
function sought() {
  const words = part("search").value.match(/"[^"]+"|[^\s"]+/g) ?? [];
  return words.map((word) => new RegExp(word.replaceAll('"', "").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu"));
}

function holds(row, words) {
  const own = ready[Math.floor(row / facts.chunk)], at = row % facts.chunk;
  const among = [own.candidate[at] ?? "", fieldNow(row, "question") ?? "", ...fieldNow(row, "references"), own.id[at] ?? ""];
  for (const judge of own.said) if (judge[at] && judge[at][0]) among.push(judge[at][0]);
  return words.every((word) => among.some((text) => word.test(text)));
}

async function apply({ keepPage = false } = {}) {
  const run = ++state.run, own = tests(), words = sought();
  let shown = [];
  for (let row = 0; row < facts.rows; row++) if (own.every((test) => test(row))) shown.push(row);
  if (words.length) {
    const found = [];
    let at = 0;
    for (let index = 0; index < CHUNKS; index++) {
      if (!ready[index]) {
        part("count").textContent = `Searching … ${Math.round((100 * index) / CHUNKS)} %`;
        await chunk(index);
        if (run !== state.run) return;
      }
      for (; at < shown.length && shown[at] < (index + 1) * facts.chunk; at++) if (holds(shown[at], words)) found.push(shown[at]);
    }
    shown = found;
  }
  state.shown = sorted(shown);
  if (!keepPage) state.page = 0;
  tell(own.length);
  remember();
  await showPage();
}

const SORTS = {
  differ: (row) => Math.max(...columns.score.map((of) => of[row] ?? -Infinity)) - Math.min(...columns.score.map((of) => of[row] ?? Infinity)),
  error: (row) => (columns.gold[row] === " " ? null : Math.abs((columns.score[judgeNow()][row] ?? NaN) - Number(columns.gold[row]))),
  gold: (row) => (columns.gold[row] === " " ? null : Number(columns.gold[row])),
};

function sorted(rows) {
  if (!state.sort) return rows;
  const of = SORTS[state.sort] ?? ((row) => columns.score[Number(state.sort)][row]);
  const values = new Map(rows.map((row) => [row, of(row)]));
  const way = state.descending ? -1 : 1, last = (value) => value === null || !Number.isFinite(value);
  return rows.sort((a, b) => {
    const [one, two] = [values.get(a), values.get(b)];
    return last(one) || last(two) ? last(one) - last(two) || a - b : way * (one - two) || a - b;
  });
}

// ---- the address ------------------------------------------------------------------------------------------------

// The filters that are set, the sorting, and the open answer, so that a link, or going back, shows the same.
const settings = () => [...part("filters").elements].filter((each) => each.id && each.id !== "f-sort");

function remember(row = null) {
  const now = new URLSearchParams();
  for (const each of settings()) {
    const facet = facts.facets[each.id.slice(2)];
    const value = each.type === "checkbox" ? String(Number(each.checked)) : each.value;
    const unset = each.type === "checkbox" ? each.checked === each.defaultChecked : each.tagName === "SELECT" ? each.selectedIndex === 0 : value === "";
    if (!unset) now.set(facet ? `column ${facet.name}` : each.id.replace(/^f-/, ""), facet ? facet.levels[value] : value);
  }
  if (state.sort) now.set("sort", state.sort + (state.descending ? "+" : "-"));
  if (row !== null) now.set("row", row + 1);
  history.replaceState(null, "", `#${now}` === "#" ? "#answers" : `#${now}`);
}

// Sets what the address says; the row that it opens, or nothing.
function recall() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const each of settings()) {
    const facet = facts.facets[each.id.slice(2)], value = wanted.get(facet ? `column ${facet.name}` : each.id.replace(/^f-/, ""));
    if (value === null) continue;
    if (each.type === "checkbox") each.checked = value === "1";
    else each.value = facet ? facet.levels.indexOf(value) : value;
    if (each.value === "" && each.tagName === "SELECT") each.selectedIndex = 0; // a value that this page has not
  }
  const sort = wanted.get("sort") ?? "";
  if ([...part("f-sort").options].some((option) => option.value === sort)) Object.assign(state, { sort: sort.slice(0, -1), descending: !sort.endsWith("-") });
  const row = Number(wanted.get("row"));
  return Number.isInteger(row) && row >= 1 && row <= facts.rows ? row - 1 : null;
}

// ---- the rows as a file -----------------------------------------------------------------------------------------

async function rowsShown() {
  const rows = [];
  for (const row of state.shown) {
    const found = await answer(row), line = { id: found.id, question: found.question, references: found.references, candidate: found.candidate };
    facts.facets.forEach((facet, i) => { if (columns.facets[i][row] !== null) line[facet.name] = facet.levels[columns.facets[i][row]] ?? null; });
    if (facts.labels) line["human label"] = columns.gold[row] === " " ? null : Number(columns.gold[row]);
    facts.judges.forEach((judge, i) => {
      const said = columns.verdict[i][row];
      Object.assign(line, { [`${judge.name}: score`]: columns.score[i][row], [`${judge.name}: label`]: "01".includes(said) ? Number(said) : null });
    });
    rows.push(line);
  }
  return rows;
}

function asCsv(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  // A text that a spreadsheet would take for a formula keeps an apostrophe before it.
  const text = (value) => (value === null || value === undefined ? "" : Array.isArray(value) ? JSON.stringify(value) : typeof value === "string" ? value.replace(/^[=+\-@\t]/, "'$&") : String(value));
  const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return "\ufeff" + [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.map((each) => quoted(text(each))).join(",")).join("\r\n") + "\r\n";
}

const asJsonLines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

async function save(name, type, written) {
  const link = make("a", { download: `answers.${name}`, href: URL.createObjectURL(new Blob([written(await rowsShown())], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// ---- what the rows that are shown have in common ----------------------------------------------------------------

function wilson(correct, rows) {
  const z2 = 1.959963984540054 ** 2, centre = (correct + z2 / 2) / (rows + z2);
  const half = Math.sqrt(z2 * ((correct * (rows - correct)) / rows + z2 / 4)) / (rows + z2);
  return [Math.max(0, centre - half), Math.min(1, centre + half)].map((value) => (100 * value).toFixed(1)).join(", ");
}

function rate(correct, rows) {
  return rows ? `${((100 * correct) / rows).toFixed(1)}% [${wilson(correct, rows)}]` : "none";
}

function tell(filters) {
  const { shown } = state, judge = judgeNow(), of = columns.verdict[judge];
  const all = shown.length === facts.rows;
  part("count").textContent = all ? `${number.format(facts.rows)} answers` : `${number.format(shown.length)} of ${number.format(facts.rows)} answers`;
  const cut = facts.limit && part("search").value.trim() ? ` (texts of over ${number.format(facts.limit)} characters are searched without their middle)` : "";
  part("count").textContent += cut;
  part("f-sort").value = state.sort && state.sort + (state.descending ? "+" : "-");
  part("active-filters").textContent = filters ? `(${filters} set)` : "";
  let correct = 0, told = 0, same = 0, both = 0;
  for (const row of shown) {
    if (of[row] !== "0" && of[row] !== "1") continue;
    told++;
    correct += of[row] === "1";
    if (columns.gold[row] === " ") continue;
    both++;
    same += columns.gold[row] === of[row];
  }
  const name = facts.judges.length > 1 ? `${facts.judges[judge].name}: ` : "";
  const parts = [told ? `judged correct ${rate(correct, told)}` : "", both ? `agreement with human labels ${rate(same, both)}` : ""].filter(Boolean);
  part("slice").textContent = parts.length ? name + parts.join(" · ") : "";
}

// ---- the table --------------------------------------------------------------------------------------------------

function sortButton(name, sort) {
  const press = () => {
    if (state.sort !== sort) Object.assign(state, { sort, descending: true });
    else if (state.descending) state.descending = false;
    else state.sort = "";
    apply();
  };
  return make("button", { type: "button", onclick: press, title: "Sort" }, name);
}

// The right edge of a column's head: it is drawn with the mouse, a double click gives the column its own width again.
function grip(key) {
  const draw = (start) => {
    start.preventDefault();
    const from = start.target.closest("th").offsetWidth - start.clientX;
    const move = (event) => { widths.set(key, Math.max(60, from + event.clientX)); setWidths(); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
  };
  return make("span", { className: "grip", onpointerdown: draw, ondblclick: () => { widths.delete(key); setWidths(); }, title: "Drag to change the width" });
}

function setWidths() {
  for (const col of part("table").querySelectorAll("col")) col.style.width = widths.has(col.dataset.key) ? `${widths.get(col.dataset.key)}px` : "";
}

const shownColumns = () => COLUMNS.filter(({ key }) => part(`f-show-${key}`).checked);

function showHead() {
  const head = ({ key, name, sort }) => {
    const now = sort === undefined ? {} : { "aria-sort": state.sort === sort ? (state.descending ? "descending" : "ascending") : "none" };
    return make("th", { scope: "col", role: "columnheader", ...now }, sort === undefined ? name : sortButton(name, sort), grip(key));
  };
  const shown = shownColumns(), judges = shown.filter(({ kind }) => kind === "s").length;
  const table = part("table");
  table.style.setProperty("--least", `${41 + (judges > 2 ? 7.4 : 10.4) * judges}rem`);
  table.classList.toggle("many", judges > 2);
  table.querySelector("colgroup")?.remove();
  const cols = shown.map(({ key, kind }) => make("col", { className: kind, "data-key": key }));
  table.prepend(make("colgroup", {}, make("col", { className: "n" }), ...cols));
  table.tHead.replaceChildren(make("tr", { role: "row" }, make("th", { scope: "col", role: "columnheader" }, "#"), ...shown.map(head)));
  setWidths();
}

function fit() {
  part("table-box").classList.toggle("fits", part("table").scrollWidth <= part("table-box").clientWidth);
}

function cell(name, kind, ...content) {
  return make("td", { role: "cell", className: kind, "data-label": name }, ...content);
}

function line(found, place) {
  const { row, question, references, candidate, marks } = found;
  const tags = facts.facets.slice(0, 2).map((facet, i) => facet.levels[columns.facets[i][row]]).filter(Boolean).join(" · ");
  const open = make("button", { type: "button", className: "open", "aria-label": `Open answer ${row + 1}`, tabIndex: place ? -1 : 0 }, number.format(row + 1));
  const reference = references[marks ? marks[0] : 0] ?? null;
  const others = references.length > 1 ? make("span", { className: "of" }, ` (one of ${references.length})`) : null;
  const clip = (text) => make("span", { className: "clip" }, said(text && text.length > 600 ? `${text.slice(0, 600)} …` : text));
  const cells = {
    q: () => cell("question", "wide", clip(question), tags ? make("span", { className: "tags" }, tags) : null),
    r: () => cell("reference", "wide", clip(reference), others),
    c: () => cell("candidate", "wide", clip(candidate)),
    v: () => cell("human label", "", label(row)),
    s: ({ name, sort }) => cell(name, against(sort, row) ? "against" : "", verdict(sort, row), ...flags(sort, row)),
  };
  return make("tr", { role: "row", onclick: (event) => !getSelection().toString() && showDetail(state.page * state.size + place, event) },
    cell("", "n", open), ...shownColumns().map((column) => cells[column.kind](column)));
}

async function showPage(focus) {
  const run = state.run, start = state.page * state.size;
  const rows = state.shown.slice(start, start + state.size);
  const found = await Promise.all(rows.map(answer));
  if (run !== state.run) return;
  showHead();
  part("table").tBodies[0].replaceChildren(...found.map(line));
  part("table").hidden = !rows.length;
  part("keys").hidden = !rows.length;
  part("none").hidden = Boolean(rows.length);
  showPager();
  part("printed").textContent = `Answers ${number.format(start + 1)} to ${number.format(start + rows.length)} of the ${part("count").textContent}`;
  if (focus !== undefined) focusRow(focus);
}

function showPager() {
  const last = Math.max(0, Math.ceil(state.shown.length / state.size) - 1);
  const go = (words, page, name) =>
    make("button", { type: "button", disabled: page === state.page || page < 0 || page > last, "aria-label": name, onclick: () => turn(page) }, words);
  const sizes = make("select", { onchange: (event) => { state.size = Number(event.target.value); state.page = 0; showPage(); } },
    ...[25, 50, 100].map((size) => make("option", { value: size, selected: size === state.size }, String(size))));
  part("pager").hidden = !state.shown.length;
  part("pager").replaceChildren(
    go("« First", 0, "First page"), go("‹ Previous", state.page - 1, "Previous page"),
    make("span", {}, `page ${number.format(state.page + 1)} of ${number.format(last + 1)}`),
    go("Next ›", state.page + 1, "Next page"), go("Last »", last, "Last page"), make("label", {}, "rows a page", sizes));
}

async function turn(page, focus) {
  state.page = page;
  state.run++;
  await showPage(focus);
  if (focus === undefined) part("answers").scrollIntoView();
}

const buttons = () => [...part("table").tBodies[0].querySelectorAll(".open")];
function focusRow(place) {
  const all = buttons(), target = all.at(place);
  for (const each of all) each.tabIndex = each === target ? 0 : -1;
  target?.focus();
}

function move(step) {
  const all = buttons(), here = all.indexOf(document.activeElement), next = here < 0 ? 0 : here + step;
  const last = Math.ceil(state.shown.length / state.size) - 1;
  if (next < 0) return state.page > 0 ? turn(state.page - 1, -1) : null;
  if (next >= all.length) return state.page < last ? turn(state.page + 1, 0) : null;
  return focusRow(next);
}

// ---- one answer -------------------------------------------------------------------------------------------------

// Places count characters as Python does, so a text with characters beyond the first plane is taken apart first.
function marked(text, gaps) {
  if (!text || !gaps) return [said(text)];
  const letters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  const cut = (from, to) => (letters ? letters.slice(from, to).join("") : text.slice(from, to));
  const content = [];
  let at = 0;
  for (let i = 0; i < gaps.length; i += 2) {
    content.push(cut(at, at + gaps[i]), make("mark", {}, cut(at + gaps[i], at + gaps[i] + gaps[i + 1])));
    at += gaps[i] + gaps[i + 1];
  }
  return [...content, cut(at)];
}

function referenceList({ references, marks, said: says }) {
  const by = (i) => facts.judges.filter((_, judge) => says[judge][1] === i).map((judge) => judge.name);
  const item = (text, i) => {
    const names = by(i), here = marks && marks[0] === i && references.length > 1;
    const why = here && !names.length ? "most words in common" : names.length && references.length > 1 ? `matched by ${names.join(", ")}` : "";
    return make("li", { className: here ? "matched" : "" }, make("span", { className: "text" }, ...marked(text, marks && marks[0] === i ? marks[2] : null)),
      why ? make("small", {}, ` ${why}`) : null);
  };
  return make("ol", {}, ...references.map(item));
}

function pairs(values) {
  const short = (_, value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value);
  const flat = (value) => value && !Array.isArray(value) && typeof value === "object" && Object.values(value).every((part) => typeof part !== "object");
  const told = (value) => {
    if (typeof value === "string") return value;
    return flat(value) ? Object.entries(value).map(([name, part]) => `${name} ${told(part)}`).join(", ") : JSON.stringify(value, short, 1);
  };
  return make("dl", {}, ...Object.entries(values).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, told(value)))));
}

// The candidate in pieces: those that matter with the change of the score, which is nothing for the text between them.
function reason(words, pieces) {
  const strongest = Math.max(...pieces.map(([, effect]) => Math.abs(effect)));
  const piece = ([text, effect]) => {
    if (!effect) return text;
    const told = `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(2)}`;
    const kind = effect > 0 ? "for" : "against", weight = Math.round(12 + (28 * Math.abs(effect)) / strongest);
    const shown = make("mark", { className: kind, title: `without this the score is ${Math.abs(effect).toFixed(3)} ${effect > 0 ? "lower" : "higher"}` },
      text, make("small", {}, ` ${told}`));
    shown.style.setProperty("--weight", `${weight}%`);
    return shown;
  };
  const key = (kind, effect) => make("mark", { className: kind }, "words", make("small", {}, ` ${effect}`));
  return make("div", { className: "why" }, make("p", {}, words),
    strongest ? make("p", { className: "text" }, ...pieces.map(piece)) : null,
    strongest ? make("p", { className: "key" }, key("for", "+0.38"), " speak for the candidate: without them the score is 0.38 lower; ",
      key("against", "−0.38"), " speak against it: 0.38 higher") : null);
}

function saying(found, judge) {
  const [explanation, matched, cut, details, shares, why, outside] = found.said[judge], { alignment, ...others } = details || {};
  const head = make("p", {}, make("b", {}, facts.judges[judge].name), verdict(judge, found.row), ...flags(judge, found.row),
    facts.judges[judge].kind !== facts.judges[judge].name ? make("small", {}, facts.judges[judge].kind) : null);
  const facts_ = {
    ...(shares ? { shares } : {}),
    ...(explanation ? { says: explanation } : {}),
    ...(matched >= 0 && found.references.length > 1 ? { matched: `reference ${matched + 1} of ${found.references.length}` } : {}),
    ...(cut ? { truncated: Object.entries(cut).map(([name, count]) => `${name}: ${number.format(count)} characters`).join(", ") } : {}),
    ...(outside ? { outside: `${outside}: beyond what the judge knows` } : {}),
    ...others,
  };
  return make("div", { className: "say" }, head, why ? reason(...why) : null, Object.keys(facts_).length ? pairs(facts_) : null,
    alignment ? drawAlignment(alignment) : null);
}

async function showDetail(place) {
  if (place < 0 || place >= state.shown.length) return;
  const found = await answer(state.shown[place]), dialog = part("detail");
  state.open = place;
  const tags = facts.facets.map((facet, i) => facet.levels[columns.facets[i][found.row]] && `${facet.name}: ${facet.levels[columns.facets[i][found.row]]}`);
  const step = (by, words, name) =>
    make("button", { type: "button", "aria-label": name, disabled: !(place + by in state.shown), onclick: () => showDetail(place + by) }, words);
  const side = (name, ...content) => make("section", {}, make("h3", {}, name), ...content);
  dialog.replaceChildren(
    make("header", {},
      make("h2", { id: "detail-title", tabIndex: -1 }, `Answer ${number.format(found.row + 1)}${found.id === null ? "" : ` · ${found.id}`}`,
        make("small", {}, [`${number.format(place + 1)} of ${number.format(state.shown.length)}`, ...tags.filter(Boolean)].join(" · "))),
      step(-1, "‹ Previous", "Previous answer"), step(1, "Next ›", "Next answer"),
      make("button", { type: "button", onclick: () => dialog.close() }, "Close")),
    make("div", { className: "body" },
      make("div", { className: "sides" },
        side("Question", make("p", { className: "text" }, said(found.question))),
        side(found.references.length > 1 ? `References, any of these ${found.references.length}` : "Reference",
          found.references.length ? referenceList(found) : said(null)),
        side("Candidate", make("p", { className: "text" }, ...marked(found.candidate, found.marks && found.marks[1])),
          found.marks && found.marks[1].length ? make("p", { className: "key" }, "marked: words that stand in the reference, too") : null)),
      make("div", { className: "says" },
        facts.labels ? make("div", { className: "say" }, make("p", {}, make("b", {}, "human label"), label(found.row))) : null,
        ...facts.judges.map((_, i) => saying(found, i))),
      Object.keys(found.more).length ? make("section", { className: "others" }, make("h3", {}, "Other columns"), pairs(found.more)) : null));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  part("detail-title").focus();
  remember(found.row);
}

async function closed() {
  remember();
  const page = Math.floor(state.open / state.size);
  if (page !== state.page) await turn(page, state.open % state.size);
  else focusRow(state.open % state.size);
}

// ---- setting up -------------------------------------------------------------------------------------------------

function choice(id, name, options) {
  return make("label", {}, name, make("select", { id }, ...options.map(([value, words]) => make("option", { value }, words))));
}

function check(id, name) {
  return make("label", { className: "check" }, make("input", { type: "checkbox", id }), name);
}

function setUpFilters() {
  const controls = facts.facets.map((facet, i) => choice(`f-${i}`, facet.name, [["", "all"], ...facet.levels.map((level, code) => [code, level])]));
  if (facts.judges.length > 1) controls.push(choice("f-judge", "verdict and score of", facts.judges.map((judge, i) => [i, judge.name])));
  controls.push(choice("f-verdict", "verdict", [["", "all"], ["1", "correct"], ["0", "incorrect"], ["?", "undecided"], ["-", "score alone"], [" ", "not judged"]]));
  if (facts.labels) {
    controls.push(choice("f-gold", "human label", [["", "all"], ["same", "judge agrees"], ["other", "judge disagrees"], ["1", "correct"], ["0", "incorrect"], ["none", "no label"]]));
  }
  const limit = (id, name) => make("input", { type: "number", step: "any", id, "aria-label": name, placeholder: name });
  controls.push(make("fieldset", {}, make("legend", {}, "score"), limit("f-low", "from"), "–", limit("f-high", "to")));
  const sorts = [["", "order of the input"], ...facts.judges.flatMap((judge, i) => [[`${i}+`, `${judge.name}: highest first`], [`${i}-`, `${judge.name}: lowest first`]])];
  if (facts.judges.length > 1) sorts.push(["differ+", "judges differ most"]);
  if (facts.labels) sorts.push(["error+", "farthest from the human label"]);
  controls.push(choice("f-sort", "sort by", sorts), check("f-cut", "truncated"));
  if (columns.outside.some((each) => each.includes("1"))) controls.push(check("f-outside", "outside"));
  if (columns.why.some((each) => each.includes("1"))) controls.push(check("f-why", "explained"));
  if (facts.judges.length > 1) controls.push(check("f-differ", "judges disagree"));
  controls.push(make("fieldset", { className: "columns" }, make("legend", {}, "columns"), ...COLUMNS.map(({ key, name }) => {
    const box = check(`f-show-${key}`, name);
    box.firstChild.checked = box.firstChild.defaultChecked = true;
    return box;
  })));
  const file = (words, ...how) => make("button", { type: "button", onclick: () => save(...how), title: "the answers that the filters show" }, words);
  controls.push(make("div", { className: "files" }, file("Save CSV", "csv", "text/csv", asCsv), file("Save JSON lines", "jsonl", "application/json", asJsonLines)));
  controls.push(make("button", { type: "reset" }, "Reset"));
  part("controls").replaceChildren(...controls);
  part("more-filters").open = matchMedia("(min-width: 52rem)").matches;
}

function listen() {
  const filters = part("filters");
  let wait = 0;
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => { state.sort = ""; apply(); }));
  filters.addEventListener("change", (event) => {
    if (event.target.id === "f-sort") Object.assign(state, { sort: event.target.value.slice(0, -1), descending: event.target.value.endsWith("+") });
    if (event.target.id !== "search") apply();
  });
  part("search").addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(apply, 150);
  });
  part("reset-none").addEventListener("click", () => filters.reset());
  part("detail").addEventListener("close", closed);
  part("detail").addEventListener("click", (event) => event.target === part("detail") && part("detail").close());
  document.addEventListener("keydown", pressed);
  addEventListener("resize", fit);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = part("detail").open, typing = event.target.matches("input, select, textarea"), arrows = event.target.matches(".open");
  const step = { j: 1, k: -1, ...(open ? { ArrowRight: 1, ArrowLeft: -1 } : arrows ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
  if (event.key === "Escape" && event.target === part("search")) event.target.blur();
  else if (typing) return;
  else if (event.key === "/" && !open) part("search").focus();
  else if (step) open ? showDetail(state.open + step) : move(step);
  else return;
  event.preventDefault();
}

function setUpTheme() {
  const themes = ["auto", "light", "dark"], button = part("theme");
  const kept = () => { try { return localStorage.getItem("bert-judge-theme"); } catch { return null; } };
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  let now = themes.includes(kept()) ? kept() : "auto";
  button.addEventListener("click", () => {
    now = themes[(themes.indexOf(now) + 1) % themes.length];
    try { localStorage.setItem("bert-judge-theme", now); } catch { /* a browser that keeps nothing */ }
    show(now);
  });
  button.hidden = false;
  show(now);
}

async function start() {
  setUpTheme();
  complete = new Promise((done) => (document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", done) : done()));
  columns = await unpacked("columns");
  setUpFilters();
  part("filters").hidden = part("table-box").hidden = false;
  listen();
  const wanted = recall();
  await apply();
  fit();
  if (wanted !== null) showDetail(state.shown.indexOf(wanted));
  await complete;
  for (let index = 0; index < CHUNKS; index++) await chunk(index); // so that a search finds them read
  document.documentElement.dataset.read = "all";
}

start();
