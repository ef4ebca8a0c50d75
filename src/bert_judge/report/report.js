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
const SIZES = [25, 50, 100]; // rows a page
let columns = null;
let complete = null; // a promise: the whole page has arrived
const state = { shown: [], page: 0, size: 25, sort: "", descending: true, open: -1, run: 0, hidden: new Set(), widths: {} };

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
    verdicts: own.verdicts[at].map((says) => says || {}),
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

// What is to be seen of a verdict besides itself.
function flags(judge, row) {
  const names = [against(judge, row) ? "≠ human label" : "", columns.cut[judge][row] === "1" ? "truncated" : "",
    columns.out_of_scope[judge][row] === "1" ? "out of scope" : ""];
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
  if (part("f-out-of-scope")?.checked) found.push((row) => columns.out_of_scope.some((each) => each[row] === "1"));
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
  for (const says of own.verdicts[at]) if (says && says.explanation) among.push(says.explanation);
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
      for (; at < shown.length && shown[at] < (index + 1) * facts.chunk; at++) {
        if (holds(shown[at], words)) found.push(shown[at]);
      }
    }
    shown = found;
  }
  state.shown = sorted(shown);
  state.page = keepPage ? Math.min(state.page, Math.max(0, Math.ceil(shown.length / state.size) - 1)) : 0;
  tell(own.length);
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

// ---- what the rows that are shown have in common ----------------------------------------------------------------

// The interval of a rate, as `stats.rate_interval` of the package has it; `questions` has the successes and the rows of each.
function interval(questions) {
  const z = 1.959963984540054;
  let correct = 0, rows = 0, squares = 0;
  for (const [own, answers] of questions) [correct, rows, squares] = [correct + own, rows + answers, squares + answers ** 2];
  const p = correct / rows, copies = rows ** 2 / squares;
  let independent = copies;
  if (correct && correct < rows && questions.length > 1 && questions.length < rows) {
    const apart = questions.reduce((sum, [own, answers]) => sum + ((own - p * answers) / (rows - answers)) ** 2, 0);
    const enough = (p * (1 - p)) / rows, variance = ((questions.length - 1) / questions.length) * apart;
    const terms = [
      (z ** 3 + z) / 4,
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
      (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
    ];
    const student = terms.reduce((sum, term, i) => sum + term / Math.max(copies - 1, 1) ** (i + 1), z);
    independent = Math.max(copies, rows * Math.min(1, variance ? enough / variance : 1) * (z / student) ** 2);
  }
  const n = independent, centre = (p * n + z ** 2 / 2) / (n + z ** 2);
  const half = (z * Math.sqrt(p * (1 - p) * n + z ** 2 / 4)) / (n + z ** 2);
  return [Math.max(0, centre - half), Math.min(1, centre + half)].map((value) => (100 * value).toFixed(1)).join(", ");
}

// The rate of `holds` among the rows, and how many answers and questions there are.
function rate(rows, holds) {
  const questions = new Map();
  let correct = 0;
  for (const row of rows) {
    const question = columns.question ? columns.question[row] : row;
    const counts = questions.get(question) ?? [0, 0];
    counts[0] += holds(row);
    counts[1]++;
    correct += holds(row);
    questions.set(question, counts);
  }
  return `${((100 * correct) / rows.length).toFixed(1)}% [${interval([...questions.values()])}]${questions.size < rows.length ? " by question" : ""}`;
}

function tell(filters) {
  const { shown } = state, judge = judgeNow(), of = columns.verdict[judge];
  const all = shown.length === facts.rows;
  part("count").textContent = all ? `${number.format(facts.rows)} answers` : `${number.format(shown.length)} of ${number.format(facts.rows)} answers`;
  part("f-sort").value = state.sort && state.sort + (state.descending ? "+" : "-");
  part("active-filters").textContent = filters ? `(${filters} set)` : "";
  const told = shown.filter((row) => of[row] === "0" || of[row] === "1");
  const both = told.filter((row) => columns.gold[row] !== " ");
  const name = facts.judges.length > 1 ? `${facts.judges[judge].name}: ` : "";
  const parts = [
    told.length ? `judged correct ${rate(told, (row) => of[row] === "1")}` : "",
    both.length ? `agreement with human labels ${rate(both, (row) => of[row] === columns.gold[row])}` : "",
  ].filter(Boolean);
  part("slice").textContent = parts.length ? name + parts.join(" · ") : "";
}

// ---- the table --------------------------------------------------------------------------------------------------

// The columns in their order: a name, a kind for the style, what sorts by it, and the content of a cell.
function tableColumns() {
  const clip = (text) => make("span", { className: "clip" }, said(text && text.length > 1000 ? `${text.slice(0, 1000)} …` : text));
  const tags = (row) => facts.facets.slice(0, 2).map((facet, i) => facet.levels[columns.facets[i][row]]).filter(Boolean).join(" · ");
  const several = ({ references }) => (references.length > 1 ? make("span", { className: "of" }, ` (one of ${references.length})`) : null);
  return [
    { name: "question", kind: "wide question", content: ({ row, question }) => [clip(question), tags(row) ? make("span", { className: "tags" }, tags(row)) : null] },
    { name: "reference", kind: "wide reference", content: (found) => [clip(found.references[found.marks ? found.marks[0] : 0] ?? null), several(found)] },
    { name: "candidate", kind: "wide candidate", content: ({ candidate }) => [clip(candidate)] },
    ...(facts.labels ? [{ name: "human label", kind: "label", sort: "gold", content: ({ row }) => [label(row)] }] : []),
    ...facts.judges.map((judge, i) => ({ name: judge.name, kind: "judge", sort: String(i), judge: i, content: ({ row }) => [verdict(i, row), ...flags(i, row)] })),
  ];
}

const seen = () => tableColumns().filter(({ name }) => !state.hidden.has(name));

function sortButton(name, sort) {
  const press = () => {
    if (state.sort !== sort) Object.assign(state, { sort, descending: true });
    else if (state.descending) state.descending = false;
    else state.sort = "";
    apply();
  };
  return make("button", { type: "button", onclick: press, title: "Sort" }, name);
}

// The edge of a column: drag it, or press the arrow keys on it; a double click gives its own width back.
function edge(name, col) {
  const width = () => Math.round(handle.parentElement.getBoundingClientRect().width);
  const set = (wanted) => {
    if (wanted) state.widths[name] = Math.max(48, Math.round(wanted));
    else delete state.widths[name];
    col.style.width = wanted ? `${state.widths[name]}px` : "";
    fit();
  };
  const drag = (event) => {
    const begin = event.clientX - width();
    const move = (to) => set(to.clientX - begin);
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  };
  const press = (event) => {
    const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (!step) return;
    set(width() + step);
    event.preventDefault();
    event.stopPropagation();
  };
  const handle = make("span", { className: "edge", role: "separator", tabIndex: 0, "aria-orientation": "vertical", "aria-label": `Width of ${name}`,
    title: "Drag to resize; a double click resets", onpointerdown: drag, onkeydown: press, ondblclick: () => set(null) });
  if (state.widths[name]) col.style.width = `${state.widths[name]}px`;
  return handle;
}

function showHead() {
  const now = (sort) => (state.sort === sort ? (state.descending ? "descending" : "ascending") : "none");
  const head = ({ name, sort }, i) => {
    const sorting = sort ? { "aria-sort": now(sort) } : {};
    return make("th", { scope: "col", role: "columnheader", ...sorting }, sort ? sortButton(name, sort) : name, edge(name, cols[i]));
  };
  const shown = seen(), cols = shown.map(({ kind }) => make("col", { className: kind }));
  const table = part("table");
  const texts = shown.filter(({ kind }) => kind.startsWith("wide")).length;
  table.style.setProperty("--least", `${4 + 9 * texts + 7 * (shown.length - texts)}rem`);
  table.querySelector("colgroup")?.remove();
  table.prepend(make("colgroup", {}, make("col", { className: "n" }), ...cols));
  table.tHead.replaceChildren(make("tr", { role: "row" }, make("th", { scope: "col", role: "columnheader" }, "#"), ...shown.map(head)));
}

function fit() {
  part("table-box").classList.toggle("fits", part("table").scrollWidth <= part("table-box").clientWidth);
}

// Whether a judge labels a row otherwise than people do.
const against = (judge, row) => "01".includes(columns.verdict[judge][row]) && columns.gold[row] !== " " && columns.gold[row] !== columns.verdict[judge][row];

function line(found, place) {
  const { row } = found;
  const cell = (name, kind, ...content) => make("td", { role: "cell", className: kind, "data-label": name }, ...content);
  const open = make("button", { type: "button", className: "open", "aria-label": `Open answer ${row + 1}`, tabIndex: place ? -1 : 0 }, number.format(row + 1));
  const cells = seen().map(({ name, kind, judge, content }) => cell(name, judge !== undefined && against(judge, row) ? `${kind} against` : kind, ...content(found)));
  return make("tr", { role: "row", onclick: (event) => !getSelection().toString() && showDetail(state.page * state.size + place, event) }, cell("", "n", open), ...cells);
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
  part("printed").textContent = printed();
  fit();
  keepAddress();
  if (focus !== undefined) focusRow(focus);
}

function showPager() {
  const last = Math.max(0, Math.ceil(state.shown.length / state.size) - 1);
  const go = (words, page, name) =>
    make("button", { type: "button", disabled: page === state.page || page < 0 || page > last, "aria-label": name, onclick: () => turn(page) }, words);
  const sizes = make("select", { onchange: (event) => { state.size = Number(event.target.value); state.page = 0; showPage(); } },
    ...SIZES.map((size) => make("option", { value: size, selected: size === state.size }, String(size))));
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

function referenceList({ references, marks, verdicts }) {
  const by = (i) => facts.judges.filter((_, judge) => verdicts[judge].matched === i).map((judge) => judge.name);
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
  const { explanation, matched, truncated, details, shares, why, out_of_scope: outOfScope, left_out: leftOut } = found.verdicts[judge];
  const head = make("p", {}, make("b", {}, facts.judges[judge].name), verdict(judge, found.row), ...flags(judge, found.row),
    facts.judges[judge].kind !== facts.judges[judge].name ? make("small", {}, facts.judges[judge].kind) : null);
  const facts_ = {
    ...(shares ? { shares } : {}),
    ...(explanation ? { says: explanation } : {}),
    ...(matched >= 0 && found.references.length > 1 ? { matched: `reference ${matched + 1} of ${found.references.length}` } : {}),
    ...(truncated ? { truncated: Object.entries(truncated).map(([name, count]) => `${name}: ${number.format(count)} characters`).join(", ") } : {}),
    ...(leftOut ? { "left out": leftOut } : {}),
    ...(outOfScope ? { "out of scope": outOfScope } : {}),
    ...details,
  };
  return make("div", { className: "say" }, head, why ? reason(...why) : null, Object.keys(facts_).length ? pairs(facts_) : null);
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
  keepAddress();
}

async function closed() {
  keepAddress();
  const page = Math.floor(state.open / state.size);
  if (page !== state.page) await turn(page, state.open % state.size);
  else focusRow(state.open % state.size);
}

// ---- the address ------------------------------------------------------------------------------------------------

// What is set is in the address in the words of the page, so that a reload or a sent link shows the same.
const controls = () => [...part("filters").elements].filter(({ name }) => name);

function settings() {
  const found = new URLSearchParams();
  for (const each of controls()) {
    const value = each.type === "checkbox" ? each.checked && "yes" : each.options ? each.selectedIndex > 0 && each.options[each.selectedIndex].text : each.value;
    if (value) found.append(each.name, value);
  }
  return found;
}

function keepAddress() {
  const found = settings();
  for (const name of state.hidden) found.append("hide", name);
  if (state.size !== 25) found.set("rows", state.size);
  if (state.page) found.set("page", state.page + 1);
  if (part("detail").open) found.set("row", state.shown[state.open] + 1);
  if (found.size || location.hash.includes("=")) history.replaceState(null, "", `#${found.size ? found : "answers"}`);
}

async function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1)), row = Number(wanted.get("row"));
  for (const each of controls()) {
    const value = wanted.get(each.name);
    if (each.type === "checkbox") each.checked = value === "yes";
    else if (each.options) each.selectedIndex = Math.max(0, [...each.options].findIndex(({ text }) => text === value));
    else each.value = value ?? "";
  }
  readSort();
  state.hidden = new Set(wanted.getAll("hide"));
  state.size = SIZES.find((size) => size === Number(wanted.get("rows"))) ?? SIZES[0];
  state.page = Math.max(0, Math.floor(Number(wanted.get("page"))) - 1 || 0);
  showColumnChoice();
  await apply({ keepPage: true });
  if (state.shown.includes(row - 1)) await showDetail(state.shown.indexOf(row - 1));
  else if (part("detail").open) part("detail").close();
}

// ---- the rows that fit, as a file and on paper ------------------------------------------------------------------

function printed() {
  const from = state.page * state.size, to = Math.min(from + state.size, state.shown.length);
  const fit = state.shown.length < facts.rows ? ` that fit, of ${number.format(facts.rows)}` : "";
  const set = [...settings()].map(([name, value]) => (value === "yes" ? name : `${name}: ${value}`)).join("; ");
  return to ? `Printed here: ${number.format(from + 1)} to ${number.format(to)} of the ${number.format(state.shown.length)} answers${fit}.${set ? ` Set: ${set}.` : ""}` : "";
}

// Names of the input's columns, so that a file can be judged again.
async function record(row) {
  const found = await answer(row), gold = columns.gold[row];
  const kinds = facts.facets.map(({ name, levels }, i) => [name, levels[columns.facets[i][row]]]).filter(([, level]) => level !== undefined);
  const verdicts = facts.judges.map(({ name }, i) => {
    const letter = columns.verdict[i][row];
    const own = { score: columns.score[i][row], label: "01".includes(letter) ? Number(letter) : null, explanation: found.verdicts[i].explanation || null };
    return [name, letter === " " ? null : own];
  });
  return {
    id: found.id, question: found.question, references: found.references, candidate: found.candidate, ...(gold === " " ? {} : { label: Number(gold) }),
    ...Object.fromEntries(kinds), ...found.more, verdicts: Object.fromEntries(verdicts),
  };
}

// A text that a spreadsheet would take for a formula begins with an apostrophe, as in wording.py.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const formula = /^'*[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+([.,]\d+)*|\.\d+)([eE][+-]?\d+)?\s?%?$/.test(text);
  const safe = typeof value === "string" && formula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(records) {
  const flat = records.map(({ verdicts, ...own }) => ({
    ...own, ...Object.fromEntries(Object.entries(verdicts).flatMap(([judge, says]) => Object.entries(says ?? {}).map(([name, value]) => [`${judge} ${name}`, value]))),
  }));
  const names = [...new Set(flat.flatMap(Object.keys))];
  return `\ufeff${[names, ...flat.map((each) => names.map((name) => each[name]))].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("")}`;
}

const FILES = {
  csv: ["text/csv", csv],
  jsonl: ["application/jsonl", (records) => records.map((each) => `${JSON.stringify(each)}\n`).join("")],
};

async function save(ending) {
  const [type, write] = FILES[ending], records = [];
  for (const row of state.shown) records.push(await record(row));
  const address = URL.createObjectURL(new Blob([write(records)], { type }));
  make("a", { href: address, download: `answers.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// ---- setting up -------------------------------------------------------------------------------------------------

function choice(id, name, options) {
  return make("label", {}, name, make("select", { id, name }, ...options.map(([value, words]) => make("option", { value }, words))));
}

function check(id, name) {
  return make("label", { className: "check" }, make("input", { type: "checkbox", id, name }), name);
}

function setUpFilters() {
  const controls = facts.facets.map((facet, i) => choice(`f-${i}`, facet.name, [["", "all"], ...facet.levels.map((level, code) => [code, level])]));
  if (facts.judges.length > 1) controls.push(choice("f-judge", "verdict and score of", facts.judges.map((judge, i) => [i, judge.name])));
  controls.push(choice("f-verdict", "verdict", [["", "all"], ["1", "correct"], ["0", "incorrect"], ["?", "undecided"], ["-", "score alone"], [" ", "not judged"]]));
  if (facts.labels) {
    controls.push(choice("f-gold", "human label", [["", "all"], ["same", "judge agrees"], ["other", "judge disagrees"], ["1", "correct"], ["0", "incorrect"], ["none", "no label"]]));
  }
  const limit = (id, name) => make("input", { type: "number", step: "any", id, name: `score ${name}`, "aria-label": `score ${name}`, placeholder: name });
  controls.push(make("fieldset", {}, make("legend", {}, "score"), limit("f-low", "from"), "–", limit("f-high", "to")));
  const sorts = [["", "order of the input"], ...facts.judges.flatMap((judge, i) => [[`${i}+`, `${judge.name}: highest first`], [`${i}-`, `${judge.name}: lowest first`]])];
  if (facts.judges.length > 1) sorts.push(["differ+", "judges differ most"]);
  if (facts.labels) sorts.push(["error+", "farthest from the human label"]);
  controls.push(choice("f-sort", "sort by", sorts), check("f-cut", "truncated"));
  if (columns.out_of_scope.some((each) => each.includes("1"))) controls.push(check("f-out-of-scope", "out of scope"));
  if (columns.why.some((each) => each.includes("1"))) controls.push(check("f-why", "explained"));
  if (facts.judges.length > 1) controls.push(check("f-differ", "judges disagree"));
  controls.push(make("button", { type: "reset" }, "Reset"));
  part("controls").replaceChildren(...controls);
  part("more-filters").open = matchMedia("(min-width: 52rem)").matches;
}

function showColumnChoice() {
  const box = ({ name }) => {
    const own = make("input", { type: "checkbox", checked: !state.hidden.has(name) });
    own.addEventListener("change", () => {
      own.checked ? state.hidden.delete(name) : state.hidden.add(name);
      showPage();
    });
    return make("label", {}, own, name);
  };
  part("column-choice").replaceChildren(...tableColumns().map(box));
}

function readSort() {
  const wanted = part("f-sort").value;
  Object.assign(state, { sort: wanted.slice(0, -1), descending: !wanted.endsWith("-") });
}

function listen() {
  const filters = part("filters");
  let wait = 0;
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => { state.sort = ""; apply(); }));
  filters.addEventListener("change", (event) => {
    if (event.target.id === "f-sort") readSort();
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
  addEventListener("hashchange", () => (location.hash.includes("=") ? readAddress() : keepAddress()));
  for (const ending of Object.keys(FILES)) part(`save-${ending}`).addEventListener("click", () => save(ending));
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
  part("filters").hidden = part("table-box").hidden = part("tools").hidden = false;
  listen();
  const asked = location.hash.includes("=");
  await readAddress();
  if (asked && !part("detail").open) part("answers").scrollIntoView();
  await complete;
  for (let index = 0; index < CHUNKS; index++) await chunk(index); // so that a search finds them read
  document.documentElement.dataset.read = "all";
}

start();
