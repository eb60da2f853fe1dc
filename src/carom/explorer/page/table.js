// Words and numbers: endings, the outcome that is pointed at, bounds, facts, the legend.

function drawEndings() {
  const { exact, samples } = shown;
  const box = $("endings");
  const whole = exact?.polygons && exact.complete;
  const list = whole ? exact.endings : (samples?.kinds ?? []).map((kind) => ({ kind }));
  const key = JSON.stringify([list.map((each) => each.kind), Boolean(whole)]);
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.classList.toggle("sampled", !whole);
    box.replaceChildren(...list.map((each) => make("button", { "aria-pressed": "false" }, each.kind)));
    if (!whole && list.length) box.append(make("span", { class: "some" }, "seen in samples; there may be more"));
    if (!list.length) box.append(make("span", { class: "some" }, "–"));
    box.querySelectorAll("button").forEach((button) => {
      // While something is dragged, samples come without an outcome of each kind.
      const here = () => (shown.exact?.complete ? shown.exact : shown.samples)?.endings?.find((each) => each.kind === button.textContent);
      button.addEventListener("pointerenter", () => { if (!pinned && here()) askOutcome({ v: here().v }); });
      button.addEventListener("focus", () => { if (!pinned && here()) askOutcome({ v: here().v }); });
      button.addEventListener("pointerleave", () => { if (!pinned) closeOutcome(); });
      button.addEventListener("click", () => { if (here()) chooseOutcome({ v: here().v }, true); });
    });
  }
  box.querySelectorAll("button").forEach((button) => {
    button.setAttribute("aria-pressed", String(shown.outcome?.kind === button.textContent));
  });
}

function drawOutcome() {
  const box = $("outcome");
  const { outcome } = shown;
  if (!outcome) {
    box.replaceChildren(make("p", { class: "hint" }, "Point at the blue set, or at an ending above, to see how it comes about."));
    return;
  }
  const parts = [make("h2", {}, outcome.kind)];
  if (outcome.words) {
    const steps = outcome.words.slice(0, -1).map((line) => make("li", {}, line.replace(/^\d+\. /, "")));
    parts.push(make("p", {}, steps.length ? "One order of events that leads here:" : "Nothing pushes."));
    if (steps.length > 8) steps.splice(8, steps.length, make("li", {}, `and ${steps.length - 8} more`));
    parts.push(make("ol", {}, ...steps));
  } else if (outcome.message) parts.push(make("p", { class: "hint" }, outcome.message));
  const names = shown.scene.names.map(({ word, unit }, k) => `${word} ${show(outcome.v[k])}${unit ? ` ${unit}` : ""}`);
  const kept = outcome.energy === null ? "" : `; keeps ${show(100 * outcome.energy)} % of the energy`;
  parts.push(make("p", { class: "hint" }, `Velocity after: ${names.join(", ")}${kept}.`));
  const action = shown.scene.drawing && !tapes ? make("button", { id: "play-outcome", onclick: playOutcome }, "▶ Play what follows") : "";
  const free = pinned ? make("button", { onclick: unpin }, "Unpin") : "";
  parts.push(make("p", {}, action, " ", free));
  box.replaceChildren(...parts);
}

function drawBounds() {
  const { scene, exact, samples, extremes } = shown;
  const best = exact?.polygons ? exact : samples;
  const table = $("bounds");
  const outer = exact?.polygons && !exact.complete;
  const source = exact?.polygons ? (outer ? "outer set" : "exact") : "samples";
  const last = tapes ? "" : "reached and proved";
  const meaning = "Between which values motions are known to end, and beyond which values it is proved that no outcome lies";
  const head = ["", "before", `least after (${source})`, `largest after (${source})`, last];
  table.tHead.replaceChildren(make("tr", {}, ...head.map((text) => make("th", { scope: "col", ...(text === last && last ? { title: meaning } : {}) }, text))));
  const parts = scene.tangents === 1 ? ["normal", "slip"] : ["normal", "slip 1", "slip 2"];
  const width = parts.length;
  const rows = scene.contacts.flatMap((name, i) => parts.map((part, k) => {
    const [low, high] = best?.bounds?.[i]?.[k] ?? [null, null];
    const cells = [scene.before[width * i + k], low, high].map((x) => make("td", {}, show(x, 4)));
    const proof = extremes?.table?.[i]?.[k];
    return make("tr", { "data-row": `${name} ${part}` }, make("th", { scope: "row" }, `${name} ${part}`), ...cells, make("td", {}, proof ? proofText(proof) : tapes ? "" : "…"));
  }));
  table.tBodies[0].replaceChildren(...rows);
}

function proofText([low, high]) {
  const scale = Math.max(...shown.scene.before.map(Math.abs), 1e-9);
  const same = ([reached, proved]) => proved !== null && Math.abs(reached - proved) < 1e-9 * scale;
  if (same(low) && same(high)) return "proved exact";
  const range = (k) => `${show(low[k])} to ${show(high[k])}`;
  return `reached ${range(0)}; proved ${range(1)}`;
}

function drawFacts() {
  const { exact, samples, scene } = shown;
  const say = [];
  const strong = (text) => make("strong", {}, text);
  if (!scene.collides) say.push("No contact approaches: nothing collides. ");
  if (exact?.polygons) {
    if (exact.complete) say.push("The set is ", strong("complete"), ": no outcome is missing. ");
    else say.push("This is an ", strong("outer set"), ": every outcome is in it, and possibly more; dots are outcomes. ");
    if (exact.milliseconds) say.push(`Computed in ${show(exact.milliseconds, 2)} ms. `);
  } else if (exact?.message) say.push(strong("Samples only"), `: ${exact.message}. `);
  const kept = exact?.energy ?? samples?.energy;
  if (kept) {
    const [low, high] = kept.map((share) => show(100 * share));
    say.push(`Energy kept${exact?.energy ? "" : " by samples"}: `, strong(low === high ? `${low} %` : `${low} to ${high} %`), ".");
  }
  const outer = exact?.polygons && !exact.complete;
  $("set-meaning").textContent = outer ? "holds every outcome, and more (outer set)" : "every outcome (exact)";
  $("facts").replaceChildren(...say);
}

function drawLegend() {
  const sign = (paint) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 20 20");
    svg.setAttribute("aria-hidden", "true");
    paint(svg);
    return svg;
  };
  const mark = (kind, name) => sign((svg) => draw(svg, "path", { class: kind, d: MARKS[name](10, 10) }));
  const item = (svg, text) => make("span", {}, svg, text);
  const toggle = (key, ...what) => {
    const box = make("input", { type: "checkbox", id: `show-${key}`, onchange: (event) => { layers[key] = event.target.checked; drawPlanes(); } });
    box.checked = layers[key];
    return make("label", {}, box, ...what);
  };
  $("legend").replaceChildren(
    item(mark("before", "before"), "before the impact"),
    item(sign((svg) => draw(svg, "rect", { class: "set", x: 3, y: 4, width: 14, height: 12 })), make("span", { id: "set-meaning" }, "every outcome (exact)")),
    toggle("samples", sign((svg) => draw(svg, "path", { class: "samples", d: "M5 6h0M13 9h0M8 14h0" })), "samples"),
    toggle("classical", mark("together", "together"), "all at once ", mark("sequential", "first"), mark("sequential second", "second"), "one after the other", item(mark("sequential outside", "first"), "not in the set")),
    record ? "" : item(sign((svg) => {
      draw(svg, "rect", { class: "extremes proved", x: 2, y: 3, width: 16, height: 14 });
      draw(svg, "rect", { class: "extremes reached", x: 6, y: 7, width: 8, height: 7 });
    }), make("span", { title: "Drawn where the set is not exact: extremes lie between the two" }, "reached (inside) and proved (outside)")),
    item(sign((svg) => draw(svg, "path", { class: "way", d: "M3 16L9 6L17 9" })), "way to the outcome"),
  );
}
