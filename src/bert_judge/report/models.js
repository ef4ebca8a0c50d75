"use strict";

// Several models' answers to the same questions: a line a question, a column a model.

let lines = []; // of each question, the row of each model's answer; a hole where there is none

function setUpLines() {
  const rows = facts.models.length ? columns.line : [];
  rows.forEach((line, row) => {
    if (columns.model[row] >= 0) (lines[line] ??= [])[columns.model[row]] = row;
  });
}

const inGrid = () => facts.models.length > 0 && part("f-view").value === "";
const unit = (count) => (inGrid() ? (count === 1 ? "question" : "questions") : count === 1 ? "answer" : "answers");
const lineOf = (row) => lines[columns.line[row]] ?? [];
// The rows of what is shown in one line: a question's answers, or one answer.
const rowsOf = (item) => (inGrid() ? lines[item].filter((row) => row !== undefined) : [item]);
const itemOf = (row) => (inGrid() ? columns.line[row] : row);

// Runs, each a judge's verdicts on a model's answers, by their names.
function runs() {
  const models = facts.models.length ? facts.models : [null];
  return models.flatMap((name, model) => facts.judges.map((judge, i) => ({
    model: name === null ? null : model, judge: i, name: [name, facts.judges.length > 1 ? judge.name : null].filter(Boolean).join(" · ") || judge.name,
  })));
}

// What a run says of the question of a row.
function letterOf({ model, judge }, row) {
  const place = model === null ? row : lineOf(row)[model];
  return place === undefined ? " " : columns.verdict[judge][place];
}

const LINES = { // what the labels of a question's answers can have in common
  differ: ["models differ", (letters) => letters.includes("1") && letters.includes("0")],
  right: ["all correct", (letters) => letters.every((letter) => letter === "1")],
  wrong: ["all incorrect", (letters) => letters.every((letter) => letter === "0")],
};
const lineIs = (kind, judge, line) => LINES[kind][1](line.filter((row) => row !== undefined).map((row) => columns.verdict[judge][row]));

// How far apart the scores of the models' answers to a row's question are.
function spread(judge, row) {
  const scores = lineOf(row).map((place) => columns.score[judge][place]).filter((score) => score !== null && score !== undefined);
  return scores.length > 1 ? Math.max(...scores) - Math.min(...scores) : null;
}

// ---- the grid ---------------------------------------------------------------------------------------------------

function gridColumns() {
  return [
    { name: "question", kind: "wide question", content: (answers) => {
      const { row, question } = answers.find(Boolean);
      return [clip(question), rowTags(row)];
    } },
    { name: "reference", kind: "wide reference", content: (answers) => {
      const { references } = answers.find(Boolean);
      return [clip(references[0] ?? null), references.length > 1 ? make("span", { className: "more" }, ` (one of ${references.length})`) : null];
    } },
    ...facts.models.map((name, model) => ({ name, kind: "model", sort: `m${model}`, model })),
  ];
}

// A long answer by its beginning and its end, where the answer itself often stands.
function bothEnds(text) {
  return text && text.length > 170 ? `${text.slice(0, 60).trimEnd()} … ${text.slice(-100).trimStart()}` : text;
}

// The cell of a model: its button opens the answer.
function modelCell(answer, place, model, columnName) {
  const attributes = { role: "cell", "data-label": columnName };
  if (!answer) return make("td", { ...attributes, className: "model" }, make("span", { className: "is-none" }, "no answer"));
  const judge = judgeNow(), { row } = answer, [words, kind] = VERDICTS[columns.verdict[judge][row]];
  const button = make("button", { type: "button", className: "open", tabIndex: -1, "data-model": model,
    "aria-label": `${columnName}: ${words || "score"}, open answer ${row + 1}` }, verdict(judge, row));
  const marks = [...flags(judge, row), judgesDiffer(row) ? make("span", { className: "flag" }, "judges disagree") : null, ...ownFlags(row)];
  return make("td", { ...attributes, className: `model ${kind}-cell`, onclick: (event) => openAnswer(event, place, row) },
    button, clip(bothEnds(answer.candidate)), ...marks);
}

function gridLine(answers, place) {
  const cells = seenColumns().map(({ name, kind, model, content }) => (model === undefined
    ? make("td", { role: "cell", className: kind, "data-label": name }, ...content(answers)) : modelCell(answers[model], place, model, name)));
  const first = answers.find(Boolean).row;
  return make("tr", { role: "row", onclick: (event) => openAnswer(event, place, first) },
    make("td", { role: "cell", className: "n" }, number.format(state.shown[place] + 1)), ...cells);
}

// ---- model against model ----------------------------------------------------------------------------------------

// How many questions one model gets right and the other one wrong, each number a filter.
function showVersus() {
  const judge = judgeNow(), runOf = (model) => runs().findIndex((run) => run.model === model && run.judge === judge);
  const counts = facts.models.map(() => facts.models.map(() => 0));
  for (const line of lines) {
    const letters = (line ?? []).map((row) => columns.verdict[judge][row]);
    letters.forEach((one, i) => one === "1" && letters.forEach((other, j) => { if (other === "0") counts[i][j]++; }));
  }
  const cell = (right, wrong) => {
    if (right === wrong) return make("td", {}, "–");
    const button = make("button", { type: "button", "aria-label": `${counted(counts[right][wrong], "question")}: ${facts.models[right]} right, ${facts.models[wrong]} wrong` },
      number.format(counts[right][wrong]));
    addShortcut(button, { "f-judge": String(judge), "f-right": String(runOf(right)), "f-wrong": String(runOf(wrong)) });
    return make("td", {}, button);
  };
  const head = make("tr", {}, make("td", {}), ...facts.models.map((name) => make("th", { scope: "col" }, name, make("small", {}, " wrong"))));
  part("versus").replaceChildren(make("thead", {}, head), make("tbody", {}, ...facts.models.map((name, right) =>
    make("tr", {}, make("th", { scope: "row" }, name, make("small", {}, " right")), ...facts.models.map((_, wrong) => cell(right, wrong))))));
}

// ---- counts that are filters ------------------------------------------------------------------------------------

let shortcuts = []; // elements with the filters that they set

function addShortcut(element, filters) {
  const press = () => {
    const pressed = element.getAttribute("aria-pressed") === "true";
    clearFilters();
    if (!pressed) for (const [id, value] of Object.entries(filters)) setControl(id, value);
    apply();
    if (pressed) return;
    part("count").focus({ preventScroll: true });
    part("count").scrollIntoView();
  };
  element.addEventListener("click", press);
  if (!(element instanceof HTMLElement)) {
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    });
  }
  shortcuts.push([element, filters]);
}

function setControl(id, value) {
  const control = part(id);
  if (!control) return;
  if (control.type === "checkbox") control.checked = value;
  else control.value = value;
}

// Everything but what is shown in which order.
function clearFilters() {
  for (const control of controls()) {
    if (!["f-view", "f-sort", "f-judge"].includes(control.id)) setControl(control.id, control.type === "checkbox" ? false : "");
  }
}

function markShortcuts() {
  const judge = String(judgeNow());
  const isSet = (control) => (control.type === "checkbox" ? control.checked : control.value !== "");
  const active = controls().filter((control) => !["f-view", "f-sort", "f-judge"].includes(control.id) && isSet(control));
  shortcuts = shortcuts.filter(([element]) => element.isConnected);
  for (const [element, { "f-judge": ofJudge = judge, ...filters }] of shortcuts) {
    const same = active.length === Object.keys(filters).length && ofJudge === judge
      && active.every((control) => filters[control.id] === (control.type === "checkbox" ? control.checked : control.value));
    element.setAttribute("aria-pressed", String(same));
  }
}

// The cells of confusion tables and the bars of histograms, which are in the page without a script.
function setUpFigures() {
  const placeOf = (name) => String(facts.judges.findIndex((judge) => judge.name === name));
  for (const cell of document.querySelectorAll(".confusion td[data-judge]")) {
    const { judge, human, verdict: letter } = cell.dataset;
    const button = make("button", { type: "button", title: "Show these answers" }, ...cell.childNodes);
    cell.replaceChildren(button);
    addShortcut(button, { "f-judge": placeOf(judge), "f-gold": human, "f-verdict": letter });
  }
  for (const bar of document.querySelectorAll(".chart .scores")) {
    const { judge, low, high, count } = bar.dataset;
    if (count === "0") continue;
    const words = { role: "button", tabindex: 0, "aria-label": `${Number(low)} to ${Number(high)}: ${counted(count, "answer")}; show` };
    for (const [name, value] of Object.entries(words)) bar.setAttribute(name, value);
    addShortcut(bar, { "f-judge": placeOf(judge), "f-low": String(Number(low)), "f-high": String(Number(high)) });
    bar.closest("svg").setAttribute("role", "group"); // an image has no parts
  }
}

// What a reader looks for first, each with its count.
function showQuickFilters() {
  const judge = judgeNow(), rows = [...Array(facts.rows).keys()], several = lines.filter(Boolean);
  const count = (test) => rows.filter(test).length;
  const quick = [
    ["models differ", several.filter((line) => lineIs("differ", judge, line)).length, { "f-models": "differ" }],
    ["all models incorrect", several.filter((line) => lineIs("wrong", judge, line)).length, { "f-models": "wrong" }],
    ["doubtful", count((row) => isDoubtful(judge, row)), { "f-doubtful": true }, DOUBTFUL],
    ["judges disagree", facts.judges.length > 1 ? count(judgesDiffer) : 0, { "f-differ": true }],
    ["≠ human label", count((row) => against(judge, row)), { "f-gold": "other" }],
  ];
  part("quick").replaceChildren(...quick.filter(([, matching]) => matching).map(([words, matching, filters, title = ""]) => {
    const button = make("button", { type: "button", title }, words, make("b", {}, ` ${number.format(matching)}`));
    addShortcut(button, { "f-judge": String(judge), ...filters });
    return button;
  }));
}

let countedJudge = -1; // the judge whose verdicts are counted above the table
function showCounts() {
  if (countedJudge !== judgeNow()) {
    countedJudge = judgeNow();
    showQuickFilters();
    if (facts.models.length) showVersus();
  }
  markShortcuts();
}
