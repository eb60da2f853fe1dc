// The scene, to scale: bodies, grounds, contacts, arrows before and after, ghosts, motion.

const SCENE = { width: 640, height: 470, pad: 18 };
const sceneView = { x: new Range(), y: new Range(), speed: new Range() };
let sceneMap = null;
let sceneDrag = null;

function frameScene() {
  const { drawing } = shown.scene;
  const [[x0, y0], [x1, y1]] = drawing.view;
  const room = 0.16 * Math.max(x1 - x0, y1 - y0);
  const mayShrink = !dragging;
  sceneView.x.follow(x0 - room, x1 + room, 1e-3, mayShrink);
  sceneView.y.follow(y0, y1 + room, 1e-3, mayShrink);
  const fastest = Math.max(1e-6, ...drawing.bodies.map((b) => (b.velocity ? Math.hypot(...b.velocity) : 0)));
  sceneView.speed.follow(0, fastest, fastest, mayShrink);
  const w = sceneView.x.high - sceneView.x.low;
  const h = sceneView.y.high - sceneView.y.low;
  const scale = Math.min((SCENE.width - 2 * SCENE.pad) / w, (SCENE.height - 2 * SCENE.pad) / h);
  const cx = 0.5 * (sceneView.x.low + sceneView.x.high);
  const cy = 0.5 * (sceneView.y.low + sceneView.y.high);
  sceneMap = {
    scale,
    perSpeed: (0.26 * SCENE.height) / sceneView.speed.high, // pixels per m/s
    x: (x) => SCENE.width / 2 + scale * (x - cx),
    y: (y) => SCENE.height / 2 - scale * (y - cy),
  };
}

function drawScene(poses = null, flashing = []) {
  const svg = $("scene");
  svg.setAttribute("viewBox", `0 0 ${SCENE.width} ${SCENE.height}`);
  const { scene } = shown;
  if (!scene) return;
  if (!scene.drawing) {
    svg.replaceChildren();
    draw(svg, "text", { x: SCENE.width / 2, y: SCENE.height / 2, "text-anchor": "middle" }, "This impact has no bodies to draw: it came as matrices.");
    return;
  }
  const focused = document.activeElement?.dataset?.body;
  frameScene();
  const layer = document.createDocumentFragment();
  drawGrounds(layer, scene.drawing.planes);
  const outcome = poses ? null : shown.outcome;
  for (const ghost of outcome?.ghosts ?? []) drawBodies(layer, scene.drawing, ghost, "ghost");
  drawBodies(layer, scene.drawing, poses ?? scene.drawing.bodies.map((b) => b.pose), "");
  if (!poses) {
    drawContacts(layer, scene, outcome);
    drawArrows(layer, scene, outcome);
  } else {
    drawFlashes(layer, scene, flashing);
  }
  drawRuler(layer);
  svg.replaceChildren(layer);
  if (focused !== undefined) svg.querySelector(`[data-body="${focused}"]`)?.focus();
}

function drawGrounds(layer, planes) {
  const far = 4 * Math.max(SCENE.width, SCENE.height) / sceneMap.scale;
  for (const { point, normal } of planes) {
    const [nx, ny] = normal;
    const along = [ny, -nx];
    const corner = (a, b) => [point[0] + a * along[0] - b * nx, point[1] + a * along[1] - b * ny];
    const strip = [corner(-far, 0), corner(far, 0), corner(far, far), corner(-far, far)];
    draw(layer, "polygon", { class: "solid", points: strip.map(toScreen).join(" ") });
    const [a, b] = [corner(-far, 0), corner(far, 0)].map((p) => [sceneMap.x(p[0]), sceneMap.y(p[1])]);
    draw(layer, "line", { class: "ground", x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
  }
}

const toScreen = ([x, y]) => `${sceneMap.x(x).toFixed(2)},${sceneMap.y(y).toFixed(2)}`;

function placed([px, py, angle], [x, y]) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [px + c * x - s * y, py + s * x + c * y];
}

function drawBodies(layer, drawing, poses, ghost) {
  drawing.bodies.forEach((body, i) => {
    const pose = poses[i];
    for (const part of body.outline) {
      if (part.points) {
        const points = part.points.map((p) => toScreen(placed(pose, p))).join(" ");
        const line = part.points.length < 3;
        draw(layer, line ? "polyline" : "polygon", { class: ghost || (line ? "link" : "body"), points });
      } else if (part.radius !== undefined) {
        const [x, y] = placed(pose, part.center);
        const r = sceneMap.scale * part.radius;
        draw(layer, "circle", { class: ghost || "body", cx: sceneMap.x(x), cy: sceneMap.y(y), r });
        const rim = placed(pose, [part.center[0], part.center[1] + part.radius]);
        // Without a spoke nobody sees it turn.
        draw(layer, "polyline", { class: ghost || "body", points: [toScreen([x, y]), toScreen(rim)].join(" ") });
      } else if (part.dot && !ghost) {
        const [x, y] = placed(pose, part.dot);
        draw(layer, "circle", { class: "body", cx: sceneMap.x(x), cy: sceneMap.y(y), r: 7 });
      }
    }
  });
}

function drawContacts(layer, scene, outcome) {
  const width = 1 + scene.tangents;
  const fastest = Math.max(1e-9, sceneView.speed.high);
  for (const { name, at, normal } of scene.drawing.contacts) {
    const [x, y] = [sceneMap.x(at[0]), sceneMap.y(at[1])];
    const i = scene.contacts.indexOf(name);
    if (outcome && normal && i >= 0) {
      const [n, t] = [outcome.at[width * i], outcome.at[width * i + 1]];
      const speed = [n * normal[0] + t * normal[1], n * normal[1] - t * normal[0]];
      if (Math.hypot(...speed) > 1e-6 * fastest) drawArrow(layer, [x, y], speed, "post");
    }
    draw(layer, "circle", { class: "contact", cx: x, cy: y, r: 6 });
    const [ox, oy] = normal ? [15 * normal[0], -15 * normal[1]] : [0, 0];
    draw(layer, "text", { class: "name", x: x + 10 + Math.min(ox, 0) * 1.6, y: y + oy + 4 }, name);
  }
}

function drawFlashes(layer, scene, flashing) {
  for (const { name, at } of scene.drawing.contacts) {
    if (flashing.includes(name)) draw(layer, "circle", { class: "flash", cx: sceneMap.x(at[0]), cy: sceneMap.y(at[1]), r: 9 });
  }
}

function drawArrow(layer, [x, y], speed, kind) {
  const tip = [x + sceneMap.perSpeed * speed[0], y - sceneMap.perSpeed * speed[1]];
  draw(layer, "path", { class: `arrow ${kind}`, d: arrowPath(x, y, ...tip) });
  return tip;
}

function drawArrows(layer, scene, outcome) {
  let moving = 0;
  scene.drawing.bodies.forEach((body, i) => {
    if (!body.center) return;
    const start = [sceneMap.x(body.center[0]), sceneMap.y(body.center[1])];
    const after = outcome?.arrows?.[moving];
    moving += 1;
    const tip = drawArrow(layer, start, body.velocity, "pre");
    if (after && Math.hypot(...after) > 1e-6 * sceneView.speed.high) drawArrow(layer, start, after, "post");
    // What was recorded has one velocity.
    if (tapes) return;
    const [vx, vy] = body.velocity;
    const label = `Velocity of ${body.name} before the impact: ${show(vx)} and ${show(vy)} metres per second; arrow keys change it`;
    const handle = draw(layer, "circle", { class: "handle", cx: tip[0], cy: tip[1], r: 12, tabindex: 0, role: "slider", "aria-label": label, "aria-valuenow": Math.hypot(vx, vy).toFixed(4), "aria-valuetext": `${show(vx)}, ${show(vy)} m/s`, "data-body": i });
    handle.addEventListener("pointerdown", (event) => startArrow(event, i));
    handle.addEventListener("keydown", (event) => stepArrow(event, i));
  });
}

function pushBody(i, velocity) {
  const body = shown.scene.drawing.bodies[i];
  const [dx, dy] = [velocity[0] - body.velocity[0], velocity[1] - body.velocity[1]];
  const v = shown.scene.v.map((x, k) => x + body.push[k][0] * dx + body.push[k][1] * dy);
  const tidy = (x) => Math.max(-LARGEST, Math.min(LARGEST, Number(x.toPrecision(6))));
  change(() => { state.v = v.map((x) => (Math.abs(x) < 1e-12 ? 0 : tidy(x))); });
}

function startArrow(event, i) {
  event.preventDefault();
  // The handle is drawn anew with every answer, so that the whole drawing follows the pointer.
  sceneDrag = { body: i };
  setDragging(true);
  $("scene").setPointerCapture(event.pointerId);
}

$("scene").addEventListener("pointermove", (event) => {
  if (!sceneDrag || !shown.scene?.drawing) return;
  const box = $("scene").getBoundingClientRect();
  const ratio = SCENE.width / box.width;
  const body = shown.scene.drawing.bodies[sceneDrag.body];
  const x = (event.clientX - box.left) * ratio - sceneMap.x(body.center[0]);
  const y = (event.clientY - box.top) * ratio - sceneMap.y(body.center[1]);
  pushBody(sceneDrag.body, [x / sceneMap.perSpeed, -y / sceneMap.perSpeed]);
});
for (const kind of ["pointerup", "pointercancel"]) {
  $("scene").addEventListener(kind, () => {
    if (sceneDrag) { sceneDrag = null; setDragging(false); }
  });
}

function stepArrow(event, i) {
  const step = 0.02 * sceneView.speed.high;
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const [vx, vy] = shown.scene.drawing.bodies[i].velocity;
  pushBody(i, [vx + move[0], vy + move[1]]);
}

function drawRuler(layer) {
  const step = niceStep(120 / sceneMap.scale, 1);
  const length = (step > 160 / sceneMap.scale ? step / 2 : step) * sceneMap.scale;
  const [x, y] = [14, SCENE.height - 14];
  draw(layer, "path", { class: "ruler", d: `M${x} ${y - 5}V${y}H${x + length}V${y - 5}` });
  draw(layer, "text", { class: "tick", x: x + 5, y: y - 7 }, `${show(length / sceneMap.scale)} m`);
}
