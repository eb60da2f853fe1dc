// Small helpers: elements, numbers, axes. Names from outside only ever become text nodes.

const $ = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function draw(parent, name, attributes = {}, text = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

// Numbers as people read them: rounding errors about zero are zero.
function show(x, digits = 3) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (Math.abs(x) < 1e-9) return "0";
  return String(Number(x.toPrecision(digits))).replaceAll("-", "−");
}

function niceStep(span, count) {
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 2.5, 5, 10].map((x) => x * power).find((x) => x >= raw * 0.999);
}

function ticks(low, high, count) {
  const step = niceStep(high - low, count);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

// A range that follows content without jumping: while something is dragged it only grows.
class Range {
  constructor() { this.low = null; this.high = null; }

  follow(low, high, least, mayShrink) {
    const span = Math.max(high - low, least, 1e-12);
    const fits = this.low !== null && low >= this.low - 1e-12 && high <= this.high + 1e-12;
    const loose = this.low !== null && this.high - this.low > 2.6 * span;
    if (fits && !(mayShrink && loose)) return;
    // Room around, in round numbers, so that it seldom has to grow.
    const middle = 0.5 * (low + high);
    const step = niceStep(span * 1.3, 4);
    const below = Math.floor((middle - 0.62 * span) / step) * step;
    const above = Math.ceil((middle + 0.62 * span) / step) * step;
    const keep = this.low !== null && !mayShrink;
    this.low = keep ? Math.min(this.low, below) : below;
    this.high = keep ? Math.max(this.high, above) : above;
  }
}

function starPath(x, y, r) {
  let d = "";
  for (let k = 0; k < 10; k++) {
    const radius = k % 2 ? 0.42 * r : r;
    const angle = -Math.PI / 2 + (k * Math.PI) / 5;
    d += `${k ? "L" : "M"}${(x + radius * Math.cos(angle)).toFixed(1)} ${(y + radius * Math.sin(angle)).toFixed(1)}`;
  }
  return `${d}Z`;
}

const MARKS = {
  before: (x, y) => starPath(x, y, 9),
  together: (x, y) => `M${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}L${x - 7} ${y}Z`,
  first: (x, y) => `M${x} ${y - 7}L${x + 7} ${y + 5}L${x - 7} ${y + 5}Z`,
  second: (x, y) => `M${x} ${y + 7}L${x + 7} ${y - 5}L${x - 7} ${y - 5}Z`,
};

function arrowPath(x0, y0, x1, y1) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1) return "";
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(11, 0.5 * length);
  const side = (s) => `${x1 - head * ux + s * 0.55 * head * uy} ${y1 - head * uy - s * 0.55 * head * ux}`;
  return `M${x0} ${y0}L${x1} ${y1}M${side(1)}L${x1} ${y1}L${side(-1)}`;
}

function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { box.hidden = true; }, 1800 + 40 * text.length);
}
