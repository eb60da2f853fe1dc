// Planes of velocities: the exact set, samples, classical outcomes, the way to an outcome.

const layers = { samples: true, classical: true };
const planeViews = new Map(); // by the rows of a plane: its ranges
let zoomed = false; // whether planes show the outcomes alone, without the velocity before
const NEAR = 14; // pixels within which the pointer takes a mark

function rowLabels() {
  const { contacts, tangents, names } = shown.scene;
  const parts = tangents === 1 ? ["normal", "slip"] : ["normal", "slip 1", "slip 2"];
  const own = contacts.flatMap((name) => parts.map((part) => ({ text: `${part} velocity of ${name}`, unit: "m/s" })));
  const bodies = names.map(({ word, unit }) => ({ text: `${word}${unit ? " velocity" : ""}`, unit: unit || "m/s or rad/s" }));
  return [...own, ...bodies];
}

function drawPlanes() {
  const { scene } = shown;
  if (!scene) return;
  const box = $("planes");
  if (box.children.length !== scene.planes.length || box.dataset.subject !== state.subject) {
    box.dataset.subject = state.subject;
    box.replaceChildren(...scene.planes.map((_, k) => planeFigure(k)));
  }
  scene.planes.forEach((plane, k) => drawPlane(box.children[k], plane, k === 0));
}

function planeFigure(k) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("tabindex", "0");
  const figure = make("figure", { class: k === 0 ? "plane large" : "plane" });
  if (k === 0) figure.append(axisChoice());
  figure.append(svg);
  svg.addEventListener("pointermove", (event) => pointAt(event, figure));
  svg.addEventListener("pointerleave", () => { if (!pinned) closeOutcome(); });
  svg.addEventListener("click", (event) => { pointAt(event, figure, true); });
  svg.addEventListener("keydown", (event) => walkMarks(event));
  return figure;
}

function axisChoice() {
  const choice = (which, name) => make("label", {}, `${name} `, make("select", { "data-axis": which, "aria-label": `${name} axis`, onchange: chooseAxes }));
  const fit = make("button", { id: "zoom", "aria-pressed": String(zoomed), title: "Show the outcomes alone, larger; press again to see where the impact began" }, "Zoom");
  fit.addEventListener("click", () => {
    zoomed = !zoomed;
    fit.setAttribute("aria-pressed", String(zoomed));
    planeViews.clear();
    drawPlanes();
  });
  return make("div", { class: "axes" }, choice(0, "across"), choice(1, "up"), fit);
}

function chooseAxes() {
  const both = [...document.querySelectorAll("[data-axis]")].map((each) => Number(each.value));
  state.axes = both;
  ask();
}

function fillAxes(plane) {
  const labels = rowLabels();
  document.querySelectorAll("[data-axis]").forEach((select, which) => {
    const key = labels.map((each) => each.text).join("|");
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      select.replaceChildren(...labels.map((each, i) => make("option", { value: i }, each.text.replace(" velocity", ""))));
    }
    if (document.activeElement !== select) select.value = String(plane[which]);
  });
}

// Everything that a plane shows, in its coordinates.
function planeContent([i, j]) {
  const { scene, samples, exact } = shown;
  const pick = (at) => [at[i], at[j]];
  const found = exact?.polygons?.find((each) => each.plane[0] === i && each.plane[1] === j);
  const marks = [];
  const vertices = exact?.number === scene.number ? exact.vertices ?? [] : [];
  for (const each of vertices) marks.push({ ...each, p: pick(each.at), kind: "vertex" });
  if (layers.classical) {
    const outside = exact?.number === scene.number ? exact.outside : null;
    scene.sequential.forEach((each, k) => marks.push({ ...each, p: pick(each.at), kind: "sequential", order: k, outside: outside?.sequential[k] }));
    scene.simultaneous.forEach((each, k) => marks.push({ ...each, p: pick(each.at), kind: "together", outside: outside?.simultaneous[k] }));
  }
  const dots = [];
  if (samples?.values) {
    for (let k = 0; k < samples.count; k++) dots.push([samples.values[k * samples.width + i], samples.values[k * samples.width + j]]);
  }
  return { before: pick(scene.before), polygons: found?.polygons ?? [], marks, dots, old: exact && exact.number !== scene.number };
}

function drawPlane(figure, plane, large) {
  const svg = figure.querySelector("svg");
  const [W, H] = large ? [560, 430] : [300, 250];
  const pad = large ? { l: 0, r: 14, t: 12, b: 42 } : { l: 0, r: 10, t: 10, b: 36 };
  const content = planeContent(plane);
  const key = plane.join();
  if (!planeViews.has(key)) planeViews.set(key, [new Range(), new Range()]);
  const view = planeViews.get(key);
  const seen = [...content.polygons.flat(), ...content.marks.map((m) => m.p)];
  if (!zoomed) seen.push(content.before);
  if (!content.polygons.length) seen.push(...content.dots);
  const extent = [0, 1].map((a) => [Math.min(0, ...seen.map((p) => p[a])), Math.max(0, ...seen.map((p) => p[a]))]);
  // Rounding errors must not fill a plane, however far it zooms.
  const speed = Math.max(...shown.scene.before.map(Math.abs), 1e-9);
  const largest = Math.max(...extent.map(([low, high]) => high - low), 1e-4 * speed);
  extent.forEach(([low, high], a) => view[a].follow(low, high, 0.3 * largest, !dragging));
  const longest = Math.max(...ticks(view[1].low, view[1].high, large ? 6 : 4).map((y) => show(y).length));
  pad.l = 24 + 6.4 * longest;
  const X = (x) => pad.l + ((x - view[0].low) / (view[0].high - view[0].low)) * (W - pad.l - pad.r);
  const Y = (y) => H - pad.b - ((y - view[1].low) / (view[1].high - view[1].low)) * (H - pad.t - pad.b);
  figure.dataset.plane = key;
  figure.map = { X, Y, W, H, pad, view, content, plane };
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  const layer = document.createDocumentFragment();
  drawAxes(layer, figure.map, plane, large);
  const inner = clipped(layer, figure.map);
  drawSet(inner, figure.map, content);
  drawExtremes(inner, figure.map, plane);
  drawWay(inner, figure.map, plane);
  drawMarks(inner, figure.map, content, large);
  svg.replaceChildren(layer);
  if (large) fillAxes(plane);
  const labels = rowLabels();
  svg.setAttribute("aria-label", `${labels[plane[1]]?.text} over ${labels[plane[0]]?.text}; left and right keys go through outcomes, Enter plays one`);
}

// A group that is cut at the axes, with some room for marks that lie on them.
function clipped(layer, { W, H, pad, plane }) {
  const id = `clip-${plane.join("-")}-${W}`;
  const clip = draw(layer, "clipPath", { id });
  draw(clip, "rect", { x: pad.l - 9, y: 0, width: W - pad.l - pad.r + 18, height: H - pad.b + 9 });
  return draw(layer, "g", { "clip-path": `url(#${id})` });
}

function drawAxes(layer, { X, Y, W, H, pad, view }, plane, large) {
  const labels = rowLabels();
  const [right, bottom] = [W - pad.r, H - pad.b];
  for (const x of ticks(view[0].low, view[0].high, large ? 6 : 4)) {
    draw(layer, "line", { class: "grid", x1: X(x), x2: X(x), y1: pad.t, y2: bottom });
    draw(layer, "text", { class: "tick", x: X(x), y: bottom + 14, "text-anchor": "middle" }, show(x));
  }
  for (const y of ticks(view[1].low, view[1].high, large ? 6 : 4)) {
    draw(layer, "line", { class: "grid", x1: pad.l, x2: right, y1: Y(y), y2: Y(y) });
    draw(layer, "text", { class: "tick", x: pad.l - 5, y: Y(y) + 4, "text-anchor": "end" }, show(y));
  }
  draw(layer, "line", { class: "zero", x1: X(0), x2: X(0), y1: pad.t, y2: bottom });
  draw(layer, "line", { class: "zero", x1: pad.l, x2: right, y1: Y(0), y2: Y(0) });
  const word = (k) => `${labels[k].text} [${labels[k].unit}]`;
  draw(layer, "text", { x: 0.5 * (pad.l + right), y: H - 6, "text-anchor": "middle" }, word(plane[0]));
  const middle = 0.5 * (pad.t + bottom);
  draw(layer, "text", { x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle" }, word(plane[1]));
}

function drawSet(layer, { X, Y }, content) {
  const outer = shown.exact?.polygons && !shown.exact.complete ? " outer" : "";
  const old = content.old ? " old" : "";
  for (const polygon of content.polygons) {
    const points = polygon.map(([x, y]) => `${X(x).toFixed(2)},${Y(y).toFixed(2)}`).join(" ");
    if (polygon.length > 2) draw(layer, "polygon", { class: `set${outer}${old}`, points });
    else if (polygon.length === 2) draw(layer, "polyline", { class: `set line${outer}${old}`, points });
    else draw(layer, "circle", { class: `set${outer}${old}`, cx: X(polygon[0][0]), cy: Y(polygon[0][1]), r: 7 });
  }
  const show = layers.samples || !content.polygons.length || content.old;
  if (show && content.dots.length) {
    const d = content.dots.map(([x, y]) => `M${X(x).toFixed(1)} ${Y(y).toFixed(1)}h0`).join("");
    draw(layer, "path", { class: "samples", d });
  }
}

// What is reached and what is proved, where the set is not known: its extremes lie between the two.
function drawExtremes(layer, { X, Y }, [i, j]) {
  if (!shown.extremes || shown.exact?.complete) return;
  const rows = shown.extremes.table.flat();
  if (!rows[i] || !rows[j]) return;
  ["reached", "proved"].forEach((kind, k) => {
    const [[x0, x1], [y0, y1]] = [rows[i], rows[j]].map(([low, high]) => [low[k], high[k]]);
    if ([x0, x1, y0, y1].includes(null)) return;
    // Rounding may put a least value above the largest.
    draw(layer, "rect", { class: `extremes ${kind}`, x: X(x0), y: Y(y1), width: Math.max(0, X(x1) - X(x0)), height: Math.max(0, Y(y0) - Y(y1)) });
  });
}

function drawMarks(layer, { X, Y }, { before, marks }, large) {
  draw(layer, "path", { class: "before", d: MARKS.before(X(before[0]), Y(before[1])) });
  for (const { p, kind, order, label, outside } of marks) {
    const [x, y] = [X(p[0]), Y(p[1])];
    const hollow = outside ? " outside" : "";
    if (kind === "vertex") draw(layer, "circle", { class: "vertex", cx: x, cy: y, r: 4 });
    else if (kind === "together") draw(layer, "path", { class: `together${hollow}`, d: MARKS.together(x, y) });
    else {
      const second = order % 2 === 1;
      draw(layer, "path", { class: `sequential${second ? " second" : ""}${hollow}`, d: MARKS[second ? "second" : "first"](x, y) });
      if (large && marks.filter((m) => m.kind === "sequential").length < 5) draw(layer, "text", { class: "name", x: x + 10, y: y - 8 }, label);
    }
  }
}

function drawWay(layer, { X, Y }, [i, j]) {
  const { outcome } = shown;
  if (!outcome) return;
  if (outcome.path) {
    const points = outcome.path.map((at) => [X(at[i]), Y(at[j])]);
    draw(layer, "polyline", { class: "way", points: points.map((p) => p.join()).join(" ") });
    for (const [x, y] of points.slice(1, -1)) draw(layer, "circle", { class: "way-dot", cx: x, cy: y, r: 3.2 });
  }
  draw(layer, "circle", { class: "chosen", cx: X(outcome.at[i]), cy: Y(outcome.at[j]), r: 9 });
}

function pointAt(event, figure, click = false) {
  const { X, Y, W, H, pad, view, content, plane } = figure.map ?? {};
  if (!X || sceneDrag) return;
  const box = event.currentTarget.getBoundingClientRect();
  const x = ((event.clientX - box.left) * W) / box.width;
  const y = ((event.clientY - box.top) * H) / box.height;
  if (pinned && !click) return;
  const distance = ([px, py]) => Math.hypot(X(px) - x, Y(py) - y);
  const marks = content.marks.filter((m) => distance(m.p) < NEAR).sort((a, b) => distance(a.p) - distance(b.p));
  let where = null;
  if (marks.length) where = { v: marks[0].v };
  else {
    const at = [
      view[0].low + ((x - pad.l) / (W - pad.l - pad.r)) * (view[0].high - view[0].low),
      view[1].low + ((H - pad.b - y) / (H - pad.t - pad.b)) * (view[1].high - view[1].low),
    ];
    if (near(content, distance, [x, y], X, Y)) where = { plane, at };
  }
  if (click) { where ? chooseOutcome(where, true) : unpin(); return; }
  if (where) askOutcome(where); else closeOutcome();
}

// Whether a place on the screen is in the set, or nearly so.
function near(content, distance, point, X, Y) {
  if (!content.polygons.length) return content.dots.some((p) => distance(p) < NEAR);
  return content.polygons.some((polygon) => {
    const corners = polygon.map(([x, y]) => [X(x), Y(y)]);
    return inside(corners, point) || corners.some((a, k) => toSegment(point, a, corners[(k + 1) % corners.length]) < NEAR);
  });
}

function inside(corners, [x, y]) {
  let odd = false;
  corners.forEach(([ax, ay], k) => {
    const [bx, by] = corners[(k + 1) % corners.length];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) odd = !odd;
  });
  return odd;
}

function toSegment([x, y], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
  const share = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
  return Math.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay));
}

let walked = -1;
function walkMarks(event) {
  const marks = $("planes").children[0].map?.content.marks ?? [];
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && marks.length) {
    event.preventDefault();
    walked = (walked + step + marks.length) % marks.length;
    chooseOutcome({ v: marks[walked].v });
  } else if (event.key === "Enter" && shown.outcome) {
    event.preventDefault();
    playOutcome();
  } else if (event.key === "Escape") unpin();
}
