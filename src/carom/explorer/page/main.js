// Controls, answers, copying and downloading: what joins the parts.

function setDragging(value) {
  dragging = value;
  if (!value) ask();
}

function slider({ key, label, unit, low, high, steps, own, value, moves, set, reset }) {
  const id = `control-${key}`;
  const range = make("input", { type: "range", id, min: low, max: high, step: steps ? (high - low) / steps : "any" });
  // The field steps by a two-hundredth of the range, with Shift by a tenth of that: thresholds lie between pixels.
  const fine = niceStep(high - low, 200);
  const field = make("input", { type: "number", step: fine, title: "Up and down keys change it in small steps, with Shift in smaller ones", "aria-label": `${label}${unit ? ` in ${unit}` : ""}` });
  const back = make("button", { title: `Reset to ${show(own)}`, "aria-label": `Reset ${label}` }, "↺");
  const row = make("div", { class: "control", "data-key": key, "data-moves": Boolean(moves) }, make("label", { for: id }, label), range, field, make("span", { class: "unit" }, unit), back);
  range.addEventListener("pointerdown", () => { dragging = true; });
  for (const kind of ["pointerup", "pointercancel", "change"]) range.addEventListener(kind, () => { if (dragging) setDragging(false); });
  range.addEventListener("input", () => {
    const x = Number(Number(range.value).toPrecision(4));
    refresh(x);
    set(x);
  });
  field.addEventListener("change", () => takeNumber(field, (x) => { refresh(x); set(x); }));
  field.addEventListener("keydown", (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way || steps) return;
    event.preventDefault();
    const x = Number((Number(field.value) + way * fine * (event.shiftKey ? 0.1 : 1)).toPrecision(6));
    field.value = String(x);
    takeNumber(field, (number) => { refresh(number); set(number); });
  });
  back.addEventListener("click", () => { refresh(row.own); reset(); });
  function refresh(x) {
    if (document.activeElement !== range) range.value = String(x);
    if (document.activeElement !== field) field.value = String(Number(x.toPrecision(6)));
    if (unit === "rad") row.querySelector(".unit").textContent = `rad ${Math.round((x * 180) / Math.PI)}°`;
    back.disabled = Math.abs(x - row.own) <= 1e-12 * Math.max(1, Math.abs(row.own));
  }
  row.own = own;
  row.refresh = refresh;
  refresh(value);
  return row;
}

// Use what is typed if it is a number; else say so, and dim what is shown, which is of another state.
function takeNumber(field, use) {
  const x = Number(field.value);
  const good = field.value.trim() !== "" && Number.isFinite(x) && Math.abs(x) <= LARGEST;
  field.classList.toggle("wrong", !good);
  field.setAttribute("aria-invalid", String(!good));
  setStale(!good);
  if (good) use(x); else toast("Expected a number; what you see is the last state.");
}

// Whether what is on the right is not what the controls say.
function setStale(value) { $("right").classList.toggle("stale", value); }

// Sliders of the scene's parameters exist as soon as the subject is known.
function buildParameters() {
  const box = $("parameters");
  const rows = subjectNow().controls.map((control) => slider({
    key: control.key, label: control.label, unit: control.unit, low: control.low, high: control.high, steps: control.steps,
    own: control.default, value: state.parameters[control.key] ?? control.default, moves: control.moves,
    set: (x) => change(() => { state.parameters[control.key] = x; if (control.moves) state.v = null; }),
    reset: () => change(() => { delete state.parameters[control.key]; if (control.moves) state.v = null; }),
  }));
  box.hidden = !rows.length;
  box.replaceChildren(box.querySelector("legend"), ...rows);
}

// Friction and velocities are known with the first answer.
function buildOthers() {
  const { scene } = shown;
  const friction = $("friction");
  friction.replaceChildren(friction.querySelector("legend"), ...scene.contacts.map((name, i) => slider({
    key: `mu.${name}`, label: `at ${name}`, unit: "", low: 0, high: scene.mostMu[i], own: scene.ownMu[i], value: scene.mu[i],
    set: (x) => change(() => { state.mu[name] = x; }),
    reset: () => change(() => { delete state.mu[name]; }),
  })));
  const restitution = $("restitution");
  restitution.replaceChildren(restitution.querySelector("legend"), ...scene.contacts.map((name, i) => slider({
    key: `e.${name}`, label: `at ${name}`, unit: "", low: 0, high: 1, own: scene.ownRestitution[i], value: scene.restitution[i],
    set: (x) => change(() => { state.restitution[name] = x; }),
    reset: () => change(() => { delete state.restitution[name]; }),
  })));
  const velocity = $("velocity");
  velocity.replaceChildren(velocity.querySelector("legend"), ...scene.names.map(({ word, unit }, k) => {
    const field = make("input", { type: "number", step: "any", id: `v-${k}`, "data-velocity": k });
    const back = make("button", { title: "Reset the velocity", "aria-label": `Reset ${word}` }, "↺");
    field.addEventListener("change", () => takeNumber(field, (x) => change(() => { state.v = shown.scene.v.map((old, i) => (i === k ? x : old)); })));
    back.addEventListener("click", () => change(() => {
      const v = shown.scene.v.map((old, i) => (i === k ? shown.scene.ownV[i] : old));
      state.v = v.every((x, i) => x === shown.scene.ownV[i]) ? null : v;
    }));
    return make("div", { class: "control" }, make("label", { for: `v-${k}` }, word), field, make("span", { class: "unit" }, unit), back);
  }));
  friction.dataset.key = othersKey();
}

const othersKey = () => JSON.stringify([state.subject, shown.scene.contacts, shown.scene.names]);

function refreshOthers() {
  const { scene } = shown;
  if ($("friction").dataset.key !== othersKey()) buildOthers();
  document.querySelectorAll("#friction .control").forEach((row, i) => { row.own = scene.ownMu[i]; row.refresh(scene.mu[i]); });
  document.querySelectorAll("#restitution .control").forEach((row, i) => { row.own = scene.ownRestitution[i]; row.refresh(scene.restitution[i]); });
  document.querySelectorAll("#velocity .control").forEach((row, k) => {
    const field = row.querySelector("input");
    if (document.activeElement !== field) field.value = String(Number(scene.v[k].toPrecision(6)));
    row.querySelector("button").disabled = scene.v[k] === scene.ownV[k];
  });
}

// A velocity that was dragged or typed takes the place of what these sliders say.
function markOverridden() {
  document.querySelectorAll("#parameters .control[data-moves]").forEach((row) => {
    row.classList.toggle("overridden", Boolean(state.v));
    row.title = state.v ? "The velocity before the impact was given otherwise; moving this slider takes it back" : "";
  });
}

function applyState() {
  $("subject").value = state.subject;
  $("description").textContent = subjectNow().description;
  document.title = `${state.subject} – carom explorer`;
  Object.assign(shown, { scene: null, samples: null, exact: null, extremes: null, outcome: null, motion: null, failed: null });
  // What was asked before is about something else.
  shown.number = number + 1;
  for (const range of Object.values(sceneView)) range.low = null;
  planeViews.clear();
  stopMotion();
  buildParameters();
  drawOutcome();
  isApplied = true;
  ask();
}

function startAfresh() {
  state = ownState(state.subject);
  pinned = null;
  applyState();
}

handlers.hello = (answer) => {
  hello = answer;
  $("subject").replaceChildren(...hello.subjects.map((each) => make("option", { value: each.name }, each.name)));
  if (!hello.subjects.some((each) => each.name === state?.subject)) {
    [state, pinned] = decodeState(location.hash);
    isApplied = false;
  }
  if (!tapes) setStatus("wait", "starting …");
  if (isApplied) { $("subject").value = state.subject; ask(); } else applyState();
};
handlers.compiling = (answer) => {
  if (answer.of === "set") setStatus("wait", "compiling, once …");
  if (answer.of === "motion") $("motion-note").textContent = "compiling, once: this may take half a minute …";
};
const HINT = "Drag the tip of a green arrow: the velocity before the impact.";
const isLate = (answer) => answer.number < shown.number;
handlers.scene = (answer) => {
  if (isLate(answer)) return;
  shown.scene = answer;
  shown.number = answer.number;
  shown.failed = null;
  setStale(false);
  $("scene-hint").textContent = answer.drawing && !tapes ? HINT : "";
  refreshOthers();
  markOverridden();
  if (!player.motion) drawScene();
};
handlers.samples = (answer) => {
  if (isLate(answer)) return;
  if (answer.data) {
    const bytes = Uint8Array.from(atob(answer.data), (c) => c.charCodeAt(0));
    answer.values = new Float32Array(bytes.buffer);
    answer.width = answer.values.length / answer.count;
  }
  delete answer.data;
  shown.samples = answer;
  // The last exact set stays, faint, until the new one is there: a few milliseconds as a rule.
  if (shown.exact?.number !== answer.number) setStatus("wait", "samples, exact set follows …");
  if (!shown.exact?.polygons) { drawPlanes(); drawEndings(); drawBounds(); drawFacts(); }
};
handlers.exact = (answer) => {
  if (isLate(answer)) return;
  shown.exact = answer;
  if (shown.extremes && shown.extremes.number < answer.number) shown.extremes = null;
  if (!answer.polygons) setStatus("partial", "samples only");
  else if (answer.complete) setStatus("exact", "exact, complete");
  else setStatus("partial", "outer set and samples");
  drawPlanes();
  drawEndings();
  drawBounds();
  drawFacts();
  // Counted once the browser has the picture.
  requestAnimationFrame(() => answered(answer.number, answer.complete));
  if (pinned && !shown.outcome) askOutcome({ v: pinned });
};
handlers.extremes = (answer) => {
  // They take their time: meanwhile another state may be on the screen.
  if (isLate(answer)) return;
  shown.extremes = answer;
  if (shown.scene) { drawPlanes(); drawBounds(); }
};
handlers.outcome = (answer) => {
  outcomeBusy = false;
  if (outcomeNext) { const next = outcomeNext; outcomeNext = null; askOutcome(next, wanted?.pin); return; }
  if (isLate(answer) || wanted === null) return;
  shown.outcome = answer;
  if (wanted.pin) { pinned = answer.v; writeUrl(); }
  if (!player.motion) drawScene();
  drawPlanes();
  drawEndings();
  drawOutcome();
  if (wanted.pin) { wanted = { pin: false }; playOutcome(); }
};
handlers.motion = (answer) => { if (answer.number === player.asked) startMotion(answer); };
handlers.failed = (answer) => {
  if (answer.of === "outcome") {
    outcomeBusy = false;
    // An outcome that the address names may be none of this impact.
    if (outcomeNext) { const next = outcomeNext; outcomeNext = null; askOutcome(next, wanted?.pin); } else pinned = shown.outcome?.v ?? null;
    return;
  }
  if (answer.of === "motion") { if (answer.number === player.asked) $("motion-note").textContent = answer.message; return; }
  if (answer.of === "extremes" || isLate(answer)) return;
  if (!shown.scene && !answer.cut && !isOwn(state)) {
    // There are no controls yet to mend what the address says.
    toast(`${answer.message}. ${state.subject} is shown as it is by default.`);
    startAfresh();
    return;
  }
  setStatus("partial", answer.cut ? "cut" : "not possible");
  shown.failed = answer;
  setStale(true);
  const kept = shown.exact ? " What you see is the last state that was possible." : "";
  $("scene-hint").textContent = `${answer.message}.${kept}`;
  answered(answer.number);
};

function chooseOutcome(where, pin = false) {
  if (pin) pinned = null;
  askOutcome(where, pin);
}

function closeOutcome() {
  outcomeNext = null;
  wanted = null;
  if (!shown.outcome) return;
  shown.outcome = null;
  if (!player.motion) drawScene();
  if (shown.scene) { drawPlanes(); drawEndings(); }
  drawOutcome();
}

function unpin() {
  pinned = null;
  closeOutcome();
  stopMotion();
  writeUrl();
}

$("subject").addEventListener("change", () => {
  state.subject = $("subject").value;
  startAfresh();
});
$("reset-all").addEventListener("click", startAfresh);
window.addEventListener("hashchange", () => {
  if (!hello || location.hash === encodeState()) return;
  [state, pinned] = decodeState(location.hash);
  applyState();
});

async function copy(text, what) {
  if (!text) { toast("There is nothing to name on a command line."); return; }
  try { await navigator.clipboard.writeText(text); }
  catch {
    // Without permission, a field does it the old way.
    const field = make("textarea", {}, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  toast(`${what} copied.`);
}
$("copy-python").addEventListener("click", () => copy(shown.scene?.snippets.python, "Python"));
$("copy-command").addEventListener("click", () => copy(shown.scene?.snippets.command, "Command"));

function save(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font", "paint-order"];
function styled(svg) {
  const copied = svg.cloneNode(true);
  const [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
  const from = svg.querySelectorAll("*");
  copied.querySelectorAll("*").forEach((element, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  copied.setAttribute("width", w);
  copied.setAttribute("height", h);
  return [copied, w, h];
}

function figureText(which) {
  const sources = which === "scene" ? [$("scene")] : [...document.querySelectorAll("#planes svg")];
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const paper = draw(whole, "rect", { fill: getComputedStyle(document.body).backgroundColor });
  let [x, height] = [0, 0];
  for (const source of sources) {
    const [copied, w, h] = styled(source);
    copied.setAttribute("x", x);
    whole.append(copied);
    x += w;
    height = Math.max(height, h);
  }
  for (const element of [whole, paper]) { element.setAttribute("width", x); element.setAttribute("height", height); }
  return [new XMLSerializer().serializeToString(whole), x, height];
}

function downloadFigure(which, format) {
  const [text, width, height] = figureText(which);
  const name = `carom-${state.subject}-${which}.${format}`;
  const vector = new Blob([text], { type: "image/svg+xml" });
  if (format === "svg") { save(name, vector); return; }
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => save(name, blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
document.querySelectorAll("[data-figure]").forEach((button) => {
  button.addEventListener("click", () => downloadFigure(button.dataset.figure, button.dataset.format));
});

function allData() {
  const samples = shown.samples && { ...shown.samples, values: [...(shown.samples.values ?? [])] };
  return { carom: hello?.version, state, ...shown, samples };
}
$("download-json").addEventListener("click", () => {
  save(`carom-${state.subject}.json`, new Blob([JSON.stringify(allData())], { type: "application/json" }));
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = (name) => { document.documentElement.dataset.theme = name; };
applyTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => applyTheme(dark.matches ? "dark" : "light"));
$("theme").addEventListener("click", () => applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

// For tests and for the console: what is shown, as data.
window.carom = Object.freeze({ data: allData, latencies: () => [...latencies], waiting: () => asked.size });

drawLegend();
if (record) startRecorded(); else connect();
