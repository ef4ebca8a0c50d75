"use strict";

const part = (id) => document.getElementById(id);
const KEYS = { 1: "right", 0: "wrong", s: "skip", u: "undo", v: "show-judge" };
let state = null;
let busy = false;

// The texts come from a model: they enter the page as textContent only, never as markup.
function render() {
  const { answer, judge, last } = state;
  part("progress").max = state.target;
  part("progress").value = Math.min(state.labelled, state.target);
  const enough = state.labelled >= state.target ? ": enough, but you can go on" : "";
  const skipped = state.skipped ? ` (${state.skipped} skipped)` : "";
  part("count").textContent = `${state.labelled} of ${state.target} labels${skipped}${enough}`;
  part("answer").hidden = !answer;
  part("end").hidden = Boolean(answer);
  if (answer) {
    part("question-part").hidden = answer.question === null;
    part("question").textContent = answer.question;
    part("references-title").textContent = answer.references.length > 1 ? "Right answers (any of these)" : "Right answer";
    part("references").replaceChildren(...answer.references.map(listed));
    part("candidate").textContent = answer.candidate;
  }
  part("judge").hidden = !judge;
  part("judge").textContent = judge ? `The judge's verdict: ${verdict(judge)}.` : "";
  part("last").textContent = last ? `Last answer: you said ${named(last.label)}; the judge's verdict: ${verdict(last.judge)}.` : "";
  for (const id of ["right", "wrong", "skip"]) part(id).disabled = !answer;
  part("undo").disabled = !state.can_undo;
}

function listed(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

function named(label) {
  return label === null ? "nothing" : label ? "right" : "wrong";
}

function verdict(judge) {
  const score = judge.score === null ? "" : ` (${judge.score.toFixed(2)})`;
  return judge.label === null ? `undecided${score}` : named(judge.label) + score;
}

async function ask(path, body) {
  if (busy) return;
  busy = true;
  try {
    const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let response = await fetch(path, options);
    let answer = await response.json();
    const error = response.ok ? "" : answer.error.message;
    if (response.status === 409) {
      response = await fetch(statePath());
      answer = await response.json();
    }
    part("error").textContent = error;
    part("error").hidden = !error;
    if (response.ok) {
      const isNext = state?.draw !== answer.draw;
      state = answer;
      render();
      if (isNext) window.scrollTo(0, 0);
    }
  } catch {
    part("error").textContent = "The server has ended or can't be reached. Earlier labels are kept.";
    part("error").hidden = false;
  } finally {
    busy = false;
  }
}

const statePath = () => (part("show-judge").checked ? "state?judge=1" : "state");
const decide = (label) => state && ask("decide", { draw: state.draw, label, judge: part("show-judge").checked });

part("right").addEventListener("click", () => decide(1));
part("wrong").addEventListener("click", () => decide(0));
part("skip").addEventListener("click", () => decide(null));
part("undo").addEventListener("click", () => ask("undo", { judge: part("show-judge").checked }));
part("show-judge").addEventListener("change", () => ask(statePath()));
document.addEventListener("keydown", (event) => {
  const id = KEYS[event.key.toLowerCase()];
  // Ignore repeats: a key held down would label many answers unseen.
  if (!id || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  part(id).click();
});
ask(statePath());
