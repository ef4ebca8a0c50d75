"use strict";

// The rows of this page are columns: those that filters read in #columns, the texts in #texts-0, #texts-1 …, each gzip
// in base64 and read once. A verdict is one letter: 1 correct, 0 incorrect, ? undecided, - a score alone, space not judged.
// Texts are a model's: they enter the page as text alone, never as markup.

const part = (id) => document.getElementById(id);
const facts = JSON.parse(part("facts").textContent);
const number = new Intl.NumberFormat("en");
const counted = (count, one) => `${number.format(count)} ${one}${count === 1 ? "" : "s"}`;
const CHUNKS = Math.ceil(facts.rows / facts.chunk);
const VERDICTS = {
  1: ["✓ correct", "is-right"], 0: ["✗ incorrect", "is-wrong"], "?": ["? undecided", "is-undecided"], "-": ["", "is-none"],
  " ": ["not judged", "is-none"],
};
let columns = null;
let complete = null; // a promise: the whole page has arrived
const state = { shown: [], fitting: new Set(), page: 0, size: 25, sort: "", descending: true, open: -1, row: -1, run: 0, hidden: new Set(), widths: {} };

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

const promises = []; // of the chunks of texts
const chunks = []; // those that are there
function chunk(index) {
  promises[index] ??= (part(`texts-${index}`) ? Promise.resolve() : complete)
    .then(() => unpacked(`texts-${index}`))
    .then((texts) => (chunks[index] = texts));
  return promises[index];
}

// A number in the place of a question or of references is the row that has them; it comes before.
async function field(row, name) {
  const value = (await chunk(Math.floor(row / facts.chunk)))[name][row % facts.chunk];
  return Number.isInteger(value) ? field(value, name) : value;
}

function fieldNow(row, name) {
  const value = chunks[Math.floor(row / facts.chunk)][name][row % facts.chunk];
  return Number.isInteger(value) ? fieldNow(value, name) : value;
}

async function readAnswer(row) {
  const texts = await chunk(Math.floor(row / facts.chunk)), at = row % facts.chunk;
  return {
    row, id: texts.id[at], candidate: texts.candidate[at], marks: texts.marks[at], more: texts.more[at] || {},
    question: await field(row, "question"), references: await field(row, "references"),
    verdicts: texts.verdicts[at].map((verdictTexts) => verdictTexts || {}),
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
  element.append(...content.filter((piece) => piece !== null && piece !== ""));
  return element;
}

const textOrNone = (text) => (text ? text : make("span", { className: "empty" }, text === null ? "(no text)" : "(empty)"));
const clip = (text) => make("span", { className: "clip" }, textOrNone(text && text.length > 1000 ? `${text.slice(0, 1000)} …` : text));

function verdict(judge, row) {
  const [words, kind] = VERDICTS[columns.verdict[judge][row]];
  const score = columns.score[judge][row];
  return make("span", { className: `verdict ${kind}` }, [words, score === null ? "" : score.toFixed(3)].filter(Boolean).join(" "));
}

function label(row) {
  const gold = columns.gold[row];
  return gold === " " ? make("span", { className: "is-none" }, "–") : make("span", { className: `verdict ${VERDICTS[gold][1]}` }, VERDICTS[gold][0]);
}

// ---- what is to be seen of a verdict besides itself ---------------------------------------------------------------

const decided = (judge, row) => "01".includes(columns.verdict[judge][row]);
// Whether a judge labels a row otherwise than people do.
const against = (judge, row) => decided(judge, row) && columns.gold[row] !== " " && columns.gold[row] !== columns.verdict[judge][row];
const judgesDiffer = (row) => new Set(columns.verdict.map((letters) => letters[row]).filter((letter) => letter === "0" || letter === "1")).size > 1;
const DOUBTFUL = "undecided, out of scope, or, by its own score, wrong with a probability of 20 % or more";
const isDoubtful = (judge, row) => columns.doubtful[judge][row] === "1";

// How probable it is, by the judge's own score, that its verdict is wrong; an undecided one comes first.
function doubt(judge, row) {
  const score = columns.score[judge][row], letter = columns.verdict[judge][row];
  if (letter === "?") return 1;
  return facts.judges[judge].probable && decided(judge, row) ? Math.abs(Number(letter) - score) : null;
}

function flags(judge, row) {
  const names = [against(judge, row) ? "≠ human label" : "", columns.cut[judge][row] === "1" ? "truncated" : "",
    columns.out_of_scope[judge][row] === "1" ? "out of scope" : isDoubtful(judge, row) ? "doubtful" : ""];
  return names.filter(Boolean).map((name) => make("span", { className: "flag" }, name));
}
