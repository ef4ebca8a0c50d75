"use strict";

const $ = (id) => document.getElementById(id);
const KEY = "bert-judge-key";
let judges = [];
const chosen = () => judges.find((judge) => judge.id === $("chosen").value);
let latest = 0; // number of the latest verdict asked for: answers to earlier ones are dropped

function make(tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

class KeyNeeded extends Error {}

function complain(sentence) {
  $("error").textContent = sentence;
  $("error").hidden = !sentence;
}

async function ask(path, body) {
  const key = sessionStorage.getItem(KEY);
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(path, { ...options, headers }).catch(() => {
    throw new Error("the server can't be reached.");
  });
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) {
    $("key-form").hidden = false;
    $("key").focus();
    if (!key) throw new KeyNeeded("this server needs a key.");
  }
  if (!response.ok) throw new Error(answer.error?.message ?? answer.error ?? `the server answered ${response.status}.`);
  return answer;
}

function readRow() {
  const references = $("references").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const question = $("question").value.trim();
  return { candidate: $("candidate").value, ...(question && { question }), ...(references.length && { references }) };
}

function verdictItem(judge, verdict) {
  const decided = verdict.score !== null && verdict.score !== undefined;
  const label = !decided ? "undecided" : verdict.label === null || verdict.label === undefined ? "score" : verdict.label ? "correct" : "incorrect";
  const item = make("li", "", label);
  const head = make("div", "", "head");
  head.append(make("span", judge.id), make("span", label === "score" ? "" : label, "label"));
  if (decided) head.append(make("span", `${judge.scale === "probability" ? "P(correct) " : ""}${verdict.score.toFixed(3)}`, "score"));
  item.append(head);
  if (decided && judge.scale !== "score") {
    const meter = document.createElement("meter");
    meter.value = verdict.score;
    meter.setAttribute("aria-label", `score of ${judge.id}`);
    item.append(meter);
  }
  const cut = Object.keys(verdict.truncated ?? {});
  const leftOut = Object.keys(verdict.left_out ?? {});
  const notes = [verdict.explanation, leftOut.length && `not part of the answer: ${leftOut.join(", ")}`, verdict.out_of_scope && `out of scope: ${verdict.out_of_scope}`, cut.length && `cut: ${cut.join(", ")}`];
  for (const note of notes.filter(Boolean)) item.append(make("p", note, "detail"));
  return item;
}

function showWhy(candidate, explanation, judge) {
  const characters = Array.from(candidate); // as Python counts them
  const parts = [];
  let place = 0;
  for (const part of explanation.carrying) {
    parts.push(characters.slice(place, part.start).join(""));
    const mark = make("mark", characters.slice(part.start, part.end).join(""), part.effect > 0 ? "for" : "against");
    mark.append(make("sub", ` ${part.effect > 0 ? "+" : "−"}${Math.abs(part.effect).toFixed(2)}`));
    parts.push(mark);
    place = part.end;
  }
  parts.push(characters.slice(place).join(""));
  $("carried").replaceChildren(...parts);
  if (!explanation.carrying.length) $("carried").append(make("p", "No single sentence or word moves the score by 0.05 or more.", "detail"));
  $("by").textContent = judge.id;
  $("why").hidden = false;
}

async function explain(row, judge, number) {
  $("pay").hidden = true;
  const explanation = await ask("v1/explain", { ...row, judge: judge.id });
  if (number === latest) showWhy(row.candidate, explanation, judge);
}

function asRequest({ candidate, ...row }, judge) {
  const questions = { correct: { type: "noul", instructions: "Is the output correct?" } };
  const body = JSON.stringify({ model: judge.id, state: { ...row, output: candidate }, questions });
  const key = sessionStorage.getItem(KEY) ? ` -H "Authorization: Bearer $BERT_JUDGE_API_KEY"` : "";
  const address = new URL("v1/systemone", location.href);
  return `curl ${address} -H 'Content-Type: application/json'${key} -d '${body.replaceAll("'", "'\\''")}'`;
}

async function judgeRow() {
  if (!judges.length) return start(); // the key is still missing, or the server could not be reached
  const number = ++latest;
  const row = readRow();
  complain("");
  $("judge").disabled = true;
  $("why").hidden = $("pay").hidden = true;
  $("verdicts").replaceChildren(...judges.map((judge) => make("li", `${judge.id} …`)));
  $("request").textContent = asRequest(row, chosen());
  $("copy").textContent = "Copy";
  $("copy").hidden = !navigator.clipboard; // which pages over plain HTTP from another machine lack
  $("result").hidden = false;
  $("result").scrollIntoView({ block: "nearest" }); // on a phone it is below the form
  try {
    await Promise.all(judges.map(async (judge, place) => {
      let item;
      try {
        item = verdictItem(judge, await ask("v1/judge", { ...row, judge: judge.id }));
      } catch (error) {
        item = make("li", `${judge.id}: ${error.message}`, "refused");
      }
      if (number === latest) $("verdicts").children[place].replaceWith(item);
    }));
    const judge = chosen();
    if (!row.candidate.trim() || number !== latest) return;
    if (judge.paid) {
      $("pay").hidden = false;
      $("pay").onclick = () => explain(row, judge, number).catch((error) => complain(error.message));
    } else {
      await explain(row, judge, number);
    }
  } catch (error) {
    complain(error.message);
  } finally {
    $("judge").disabled = false;
  }
}

async function start() {
  try {
    const served = await ask("v1/models");
    judges = served.data;
    $("key-form").hidden = true;
    complain("");
    $("chosen").replaceChildren(...judges.map(({ id }) => new Option(id, id)));
    $("one").hidden = judges.length < 2;
    $("judges").textContent = `judges: ${judges.map((judge) => judge.id).join(", ")}`;
    const labelling = (await ask("v1/labelling", {})).page;
    $("label").hidden = !labelling;
    if (labelling) $("label").href = labelling;
  } catch (error) {
    if (!(error instanceof KeyNeeded)) complain(error.message); // the form asks for it already
  }
}

$("row").addEventListener("submit", (event) => { event.preventDefault(); judgeRow(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && $("row").contains(event.target) && !$("judge").disabled) judgeRow();
});
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("request").textContent);
  $("copy").textContent = "Copied";
});
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, $("key").value.trim());
  start();
});
start();
