"use strict";

// Labels and notes of the reader: kept in the browser, and saved as a file of labels as `bert-judge evaluate` reads it.

const STORE = `bert-judge-labels-${facts.answers}`; // the same answers on another page have the same labels
const ownLabels = new Map(); // by row: label (1, 0 or null), note, and labelled_at

function readOwnLabels() {
  try {
    for (const [row, entry] of JSON.parse(localStorage.getItem(STORE) ?? "[]")) ownLabels.set(row, entry);
  } catch { /* a browser that keeps nothing */ }
}

let kept = true; // whether the browser keeps them beyond this page
function keepOwnLabels() {
  try {
    if (ownLabels.size) localStorage.setItem(STORE, JSON.stringify([...ownLabels]));
    else localStorage.removeItem(STORE);
  } catch {
    kept = false;
  }
}

function setOwnLabel(row, change) {
  const entry = { label: null, note: "", ...ownLabels.get(row), ...change, labelled_at: new Date().toISOString().replace(/\.\d+Z$/, "+00:00") };
  if (entry.label === null && !entry.note.trim()) ownLabels.delete(row);
  else ownLabels.set(row, entry);
  keepOwnLabels();
  showOwnLabels();
}

function ownFlags(row) {
  const { label: ownLabel, note } = ownLabels.get(row) ?? {};
  const words = [ownLabel === 1 ? "you: correct" : ownLabel === 0 ? "you: incorrect" : "", note?.trim() ? "note" : ""];
  return words.filter(Boolean).map((name) => make("span", { className: "flag" }, name));
}

function showOwnLabels() {
  part("own").hidden = !ownLabels.size;
  part("save-labels").textContent = `Save ${number.format(ownLabels.size)} of your labels`;
}

// What the reader says of an answer, in its dialog.
function ownPanel(row) {
  const choose = (value) => {
    setOwnLabel(row, { label: ownLabels.get(row)?.label === value ? null : value });
    mark();
  };
  const option = (value, words) => make("button", { type: "button", "data-label": value, onclick: () => choose(value) }, words, make("kbd", {}, String(value)));
  const options = [option(1, "Correct "), option(0, "Incorrect ")];
  const mark = () => options.forEach((button) => button.setAttribute("aria-pressed", String(String(ownLabels.get(row)?.label) === button.dataset.label)));
  const note = make("textarea", { rows: 2, "aria-label": "Your note", placeholder: "a note", value: ownLabels.get(row)?.note ?? "",
    oninput: () => setOwnLabel(row, { note: note.value }) });
  mark();
  return make("section", { className: "own" }, make("h3", {}, "Your label"), make("p", {}, ...options), note);
}

function pressOwnLabel(value) {
  part("detail").querySelector(`.own button[data-label="${value}"]`)?.click();
}

async function saveOwnLabels() {
  const records = [];
  for (const [row, { label: ownLabel, note, labelled_at }] of [...ownLabels].sort(([one], [other]) => one - other)) {
    const { id, question, references, candidate } = await readAnswer(row);
    records.push({ id, ...(question === null ? {} : { question }), references, candidate, label: ownLabel, ...(note.trim() ? { note } : {}), labelled_at });
  }
  download("labels.jsonl", ...FILES.jsonl, records);
}

function discardOwnLabels() {
  if (!confirm(`Discard ${ownLabels.size} of your labels and notes?`)) return;
  ownLabels.clear();
  keepOwnLabels();
  showOwnLabels();
  apply({ keepPage: true });
}

function listenForLabels() {
  part("save-labels").addEventListener("click", saveOwnLabels);
  part("discard-labels").addEventListener("click", discardOwnLabels);
  addEventListener("beforeunload", (event) => ownLabels.size && !kept && event.preventDefault());
}
