"use strict";

// One answer in a dialog: its texts side by side, what each judge says, other models' answers, and the reader's label.

// Places count characters as Python does, so a text with characters beyond the first plane is taken apart first.
function marked(text, gaps) {
  if (!text || !gaps) return [textOrNone(text)];
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
  const judgesOf = (i) => facts.judges.filter((_, judge) => verdicts[judge].matched === i).map((judge) => judge.name);
  const item = (text, i) => {
    const names = judgesOf(i), isMarked = marks && marks[0] === i && references.length > 1;
    const why = isMarked && !names.length ? "most words in common" : names.length && references.length > 1 ? `matched by ${names.join(", ")}` : "";
    return make("li", { className: isMarked ? "matched" : "" }, make("span", { className: "text" }, ...marked(text, marks && marks[0] === i ? marks[2] : null)),
      why ? make("small", {}, ` ${why}`) : null);
  };
  return make("ol", {}, ...references.map(item));
}

function pairs(values) {
  const short = (_, value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value);
  const flat = (value) => value && !Array.isArray(value) && typeof value === "object" && Object.values(value).every((entry) => typeof entry !== "object");
  const words = (value) => {
    if (typeof value === "string") return value;
    return flat(value) ? Object.entries(value).map(([name, entry]) => `${name} ${words(entry)}`).join(", ") : JSON.stringify(value, short, 1);
  };
  return make("dl", {}, ...Object.entries(values).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, words(value)))));
}

// The candidate in pieces: those that matter with the change of the score, which is nothing for the text between them.
function reason(words, pieces) {
  const strongest = Math.max(...pieces.map(([, effect]) => Math.abs(effect)));
  const piece = ([text, effect]) => {
    if (!effect) return text;
    const change = `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(2)}`;
    const kind = effect > 0 ? "for" : "against", weight = Math.round(12 + (28 * Math.abs(effect)) / strongest);
    const mark = make("mark", { className: kind, title: `without this the score is ${Math.abs(effect).toFixed(3)} ${effect > 0 ? "lower" : "higher"}` },
      text, make("small", {}, ` ${change}`));
    mark.style.setProperty("--weight", `${weight}%`);
    return mark;
  };
  const key = (kind, effect) => make("mark", { className: kind }, "words", make("small", {}, ` ${effect}`));
  return make("div", { className: "why" }, make("p", {}, words),
    strongest ? make("p", { className: "text" }, ...pieces.map(piece)) : null,
    strongest ? make("p", { className: "key" }, key("for", "+0.38"), " speak for the candidate: without them the score is 0.38 lower; ",
      key("against", "−0.38"), " speak against it: 0.38 higher") : null);
}

function verdictPart(answer, judge) {
  const { explanation, matched, truncated, details, shares, why, out_of_scope: outOfScope, left_out: leftOut } = answer.verdicts[judge];
  const { name, kind } = facts.judges[judge];
  const head = make("p", {}, make("b", {}, name), verdict(judge, answer.row), ...flags(judge, answer.row),
    kind !== name ? make("small", {}, kind) : null);
  const values = {
    ...(shares ? { shares } : {}),
    ...(explanation ? { says: explanation } : {}),
    ...(matched >= 0 && answer.references.length > 1 ? { matched: `reference ${matched + 1} of ${answer.references.length}` } : {}),
    ...(truncated ? { truncated: Object.entries(truncated).map(([text, count]) => `${text}: ${counted(count, "character")}`).join(", ") } : {}),
    ...(leftOut ? { "left out": leftOut } : {}),
    ...(outOfScope ? { "out of scope": outOfScope } : {}),
    ...details,
  };
  return make("div", { className: "say" }, head, why ? reason(...why) : null, Object.keys(values).length ? pairs(values) : null);
}

// The answers of the other models to the question of a row: a click opens one.
async function otherModels(row, place) {
  const model = facts.models.length ? columns.model[row] : -1;
  const others = model < 0 ? [] : await Promise.all(lineOf(row).filter((other) => other !== undefined && other !== row).map(readAnswer));
  if (!others.length) return null;
  const button = (answer) => make("li", {}, make("button", { type: "button", onclick: () => showDetail(place, answer.row) },
    make("b", {}, facts.models[columns.model[answer.row]]), " ", verdict(judgeNow(), answer.row), clip(answer.candidate)));
  return make("section", { className: "models" }, make("h3", {}, "Other models' answers"), make("ul", {}, ...others.map(button)));
}

// The answer in a line of the table, by its place among those shown: that of `row`, else the first one that fits.
async function showDetail(place, row = firstFitting(place)) {
  if (place < 0 || place >= state.shown.length) return;
  const answer = await readAnswer(row), others = await otherModels(row, place), dialog = part("detail");
  state.open = place;
  state.row = row;
  const levels = facts.facets.map((facet, i) => facet.levels[columns.facets[i][row]] && `${facet.name}: ${facet.levels[columns.facets[i][row]]}`);
  const step = (by, words) => make("button", { type: "button", "aria-label": `${words === "Next ›" ? "Next" : "Previous"} ${unit(1)}`,
    disabled: !(place + by in state.shown), onclick: () => stepDetail(by) }, words);
  const side = (name, ...content) => make("section", {}, make("h3", {}, name), ...content);
  dialog.replaceChildren(
    make("header", {},
      make("h2", { id: "detail-title", tabIndex: -1 }, `Answer ${number.format(row + 1)}${answer.id === null ? "" : ` · ${answer.id}`}`,
        make("small", {}, [`${number.format(place + 1)} of ${number.format(state.shown.length)}`, ...levels.filter(Boolean)].join(" · "))),
      step(-1, "‹ Previous"), step(1, "Next ›"),
      make("button", { type: "button", onclick: () => dialog.close() }, "Close")),
    make("div", { className: "body" },
      make("div", { className: "sides" },
        side("Question", make("p", { className: "text" }, textOrNone(answer.question))),
        side(answer.references.length > 1 ? `References, any of these ${answer.references.length}` : "Reference",
          answer.references.length ? referenceList(answer) : textOrNone(null)),
        side("Candidate", make("p", { className: "text" }, ...marked(answer.candidate, answer.marks && answer.marks[1])),
          answer.marks && answer.marks[1].length ? make("p", { className: "key" }, "marked: words that stand in the reference, too") : null)),
      make("div", { className: "verdicts" },
        facts.labels ? make("div", { className: "say" }, make("p", {}, make("b", {}, "human label"), label(row))) : null,
        ...facts.judges.map((_, i) => verdictPart(answer, i))),
      answer.candidate === null ? null : ownPanel(row), others, // a label is of a text
      Object.keys(answer.more).length ? make("section", { className: "others" }, make("h3", {}, "Other columns"), pairs(answer.more)) : null));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  part("detail-title").focus();
  keepAddress();
}

const rowOfModel = (place, model) => (inGrid() && model >= 0 ? lines[state.shown[place]]?.[model] : undefined);
function firstFitting(place) {
  if (!(place in state.shown)) return -1;
  const rows = rowsOf(state.shown[place]);
  return rows.find((row) => state.fitting.has(row)) ?? rows[0];
}

// The next line, and in it the same model's answer.
function stepDetail(by) {
  const model = facts.models.length ? columns.model[state.row] : -1;
  return showDetail(state.open + by, rowOfModel(state.open + by, model));
}

function openAnswer(event, place, row) {
  event.stopPropagation();
  if (!getSelection().toString()) showDetail(place, row);
}

async function closed() {
  keepAddress();
  const page = Math.floor(state.open / state.size);
  await turn(page, state.open % state.size, facts.models.length ? columns.model[state.row] : -1);
}
