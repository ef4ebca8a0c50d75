// Draws which tokens of two texts BERTScore matches. `data` is an alignment as JSON: `candidate` and `reference` with
// tokens, weights, special and matches, and `similarity`, candidate tokens by reference tokens. Returns an element: the
// heat map as SVG, what its marks mean, and in words what is pointed at or has the focus.
function drawAlignment(data) {
  const { candidate, reference, similarity } = data, sides = { candidate, reference };
  const sorted = similarity.flat().sort((a, b) => a - b), middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  const low = Math.min(0.9, Math.floor(median * 10) / 10);  // most tokens have nothing to do with each other

  // pixels: the upper left corner of the heat map is at `left`, `top`
  const cell = Math.min(44, Math.max(14, 760 / Math.max(candidate.tokens.length, reference.tokens.length)));
  const font = Math.min(14, 0.85 * cell), turn = cell > 30 ? 45 : 90, roomy = cell > 34;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${font}px system-ui, sans-serif`;
  const clip = (token) => token.length > 24 ? `${token.slice(0, 23)}…` : token;
  const longest = ({ tokens }) => Math.max(...tokens.map((token) => pen.measureText(clip(token)).width));
  const left = longest(candidate) + 16, top = longest(reference) * Math.sin(turn * Math.PI / 180) + 22;
  const right = left + reference.tokens.length * cell, bottom = top + candidate.tokens.length * cell;

  function shape(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  function element(name, className, ...children) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
  }

  const levels = new Map(), values = [];  // cells of one colour are one path: a long text has a quarter of a million
  similarity.forEach((line, row) => line.forEach((value, column) => {
    const level = Math.max(0, Math.min(20, Math.round(20 * (value - low) / (1 - low))));
    const x = left + column * cell, y = top + row * cell;
    if (!levels.has(level)) levels.set(level, []);
    levels.get(level).push(`M${x.toFixed(1)} ${y.toFixed(1)}h${cell - 1}v${cell - 1}h${1 - cell}z`);
    const place = { class: level > 10 ? "value over" : "value", x: x + 0.54 * cell, y: y + 0.6 * cell };
    if (roomy) values.push(shape("text", place, value.toFixed(2)));
  }));
  const heat = [...levels].map(([level, parts]) => shape("path", { class: "heat", "fill-opacity": level / 20, d: parts.join("") }));

  const part = cell * (roomy ? 0.12 : 0.32), tip = 1.4 * part;
  const marks = { candidate: [], reference: [] };
  candidate.matches.forEach((column, row) => column !== null && marks.candidate.push(
    `M${left + column * cell + 1} ${top + (row + 0.5) * cell - part}l${tip} ${part}l${-tip} ${part}z`));
  reference.matches.forEach((row, column) => row !== null && marks.reference.push(
    `M${left + (column + 0.5) * cell - part} ${top + row * cell + 1}h${2 * part}l${-part} ${tip}z`));

  function tell(side, index) {
    const own = sides[side], other = side === "candidate" ? reference : candidate;
    const match = own.matches[index], alike = side === "candidate" ? similarity[index] : similarity.map((line) => line[index]);
    const named = (place) => `“${other.tokens[place]}” (${alike[place].toFixed(3)})`;
    const best = match === null ? "no weight" : `best match ${named(match)}`;
    const chosenBy = [...other.matches.keys()].filter((place) => other.matches[place] === index).map(named);
    const weight = own.weights[index].toFixed(3);
    return `${side} token “${own.tokens[index]}”, weight ${weight}: ${best}; best match of ${chosenBy.join(", ") || "none"}`;
  }
  const tokens = { candidate: [], reference: [] };
  function list(side) {
    const { special, weights } = sides[side], most = Math.max(...weights);
    const bars = weights.map((weight, index) => {
      const long = 44 * weight / most, wide = 0.7 * cell, start = (index + 0.15) * cell;
      return side === "candidate"
        ? shape("rect", { x: right + 6, y: top + start, width: long, height: wide })
        : shape("rect", { x: left + start, y: bottom + 6, width: wide, height: long });
    });
    tokens[side] = sides[side].tokens.map((token, index) => {
      const x = left + (index + 0.5) * cell, y = top - 8;
      const place = side === "candidate"
        ? { x: left - 8, y: top + (index + 0.5) * cell, "text-anchor": "end" }
        : { x, y, transform: `rotate(-${turn} ${x} ${y})` };
      const told = { role: "option", tabindex: index ? -1 : 0, "aria-label": tell(side, index) };
      return shape("text", { class: special[index] ? "special" : "", ...told, ...place }, clip(token));
    });
    return shape("g", { class: side, role: "listbox", "aria-label": `${side} tokens` }, ...tokens[side], ...bars);
  }

  const bands = [
    shape("rect", { class: "band", x: left, width: right - left, height: cell }),
    shape("rect", { class: "band", y: top, width: cell, height: bottom - top }),
  ];
  const size = { width: Math.ceil(right + Math.max(60, top)), height: Math.ceil(bottom + 60), "font-size": font };
  const svg = shape("svg", size, ...heat, ...values, ...bands,
    ...Object.keys(marks).map((side) => shape("path", { class: `mark ${side}`, d: marks[side].join("") })),
    list("candidate"), list("reference"));
  const said = element("output", "", "Point at a token or a cell, or go to the tokens with Tab and the arrow keys.");
  said.setAttribute("aria-live", "polite");

  function show(row, column, words) {
    for (const [band, axis, place] of [[bands[0], "y", row], [bands[1], "x", column]]) {
      band.style.visibility = place === null ? "hidden" : "visible";
      if (place !== null) band.setAttribute(axis, (axis === "y" ? top : left) + place * cell - 0.5);
    }
    tokens.candidate.forEach((token, place) => token.classList.toggle("on", place === row));
    tokens.reference.forEach((token, place) => token.classList.toggle("on", place === column));
    said.textContent = words;
  }
  function find(target) {
    const side = Object.keys(tokens).find((name) => tokens[name].includes(target));
    return { side, index: side && tokens[side].indexOf(target) };
  }
  function showToken({ side, index }) {
    const match = sides[side].matches[index], words = tell(side, index);
    side === "candidate" ? show(index, match, words) : show(match, index, words);
  }
  svg.addEventListener("pointermove", (event) => {
    const found = find(event.target), box = svg.getBoundingClientRect();
    if (found.side) return showToken(found);
    const row = Math.floor((event.clientY - box.top - top) / cell), column = Math.floor((event.clientX - box.left - left) / cell);
    if (!(row in tokens.candidate && column in tokens.reference)) return;
    const words = [`similarity ${similarity[row][column].toFixed(3)}`, tell("candidate", row), tell("reference", column)];
    show(row, column, words.join("\n"));
  });
  svg.addEventListener("focusin", (event) => {
    const found = find(event.target);
    tokens[found.side].forEach((token) => { token.tabIndex = token === event.target ? 0 : -1; });
    showToken(found);
  });
  svg.addEventListener("keydown", (event) => {
    const { side, index } = find(event.target), last = tokens[side].length - 1;
    const place = { ArrowUp: index - 1, ArrowLeft: index - 1, ArrowDown: index + 1, ArrowRight: index + 1, Home: 0, End: last }[event.key];
    if (place === undefined) return;
    event.preventDefault();
    event.stopPropagation();  // a page around it may have keys of its own
    tokens[side][Math.max(0, Math.min(last, place))].focus();
  });

  const legend = element("p", "legend",
    element("span", "candidate", "▶"), " candidate token's best match (precision) ",
    element("span", "reference", "▼"), " reference token's best match (recall) · rows: candidate, columns: reference, bars: weights, ",
    `colours: similarity, ${low} (and less) to 1`);
  return element("div", "alignment", legend, element("div", "scroll", svg), said);
}
