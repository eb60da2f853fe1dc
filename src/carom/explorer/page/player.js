// Playing the motion that follows an outcome.

// `asked` is the number of the request whose motion is waited for.
const player = { motion: null, time: 0, playing: false, last: null, asked: null };

function playOutcome() {
  if (!shown.outcome || !shown.scene.drawing || tapes) return;
  pinned = shown.outcome.v;
  writeUrl();
  $("player").hidden = false;
  $("motion-note").textContent = "computing the motion …";
  player.asked = send({ kind: "motion", v: shown.outcome.v });
  drawOutcome();
}

function startMotion(motion) {
  shown.motion = motion;
  Object.assign(player, { motion, time: 0, playing: true, last: null });
  const end = motion.times.at(-1);
  $("time").max = String(end);
  const contacts = motion.impacts.slice(0, 4).map((each) => `${each.contacts.join(" and ")} at ${show(each.time, 2)} s`);
  const more = motion.impacts.length > 4 ? `, and ${motion.impacts.length - 4} more` : "";
  const cut = motion.status === "finished" ? "" : ` The motion ended early: ${motion.message}.`;
  $("motion-note").textContent = (contacts.length ? `Impacts that follow: ${contacts.join(", ")}${more}.` : "No further impact.") + cut;
  $("scene-figure").scrollIntoView?.({ block: "nearest" });
  requestAnimationFrame(tick);
}

function tick(now) {
  if (!player.motion) return;
  if (player.playing) {
    const pace = Number($("pace").value);
    if (player.last !== null) player.time += (pace * (now - player.last)) / 1000;
    player.last = now;
    const end = player.motion.times.at(-1);
    if (player.time >= end) { player.time = end; player.playing = false; }
    drawMotion();
    if (player.playing) requestAnimationFrame(tick);
  }
}

function drawMotion() {
  const { times, poses, impacts } = player.motion;
  const end = times.at(-1) || 1;
  const place = (player.time / end) * (times.length - 1);
  const k = Math.min(Math.floor(place), times.length - 2);
  const share = Math.max(0, place - k);
  const between = (poses[k] ?? poses[0]).map((pose, body) => pose.map((x, c) => x + share * ((poses[k + 1] ?? poses[0])[body][c] - x)));
  const pace = Number($("pace").value);
  const flashing = impacts.filter((each) => player.time >= each.time && player.time - each.time < 0.18 * pace).flatMap((each) => each.contacts);
  drawScene(between, flashing);
  $("time").value = String(player.time);
  $("clock").textContent = `${player.time.toFixed(2)} s`;
  $("play").textContent = player.playing ? "❚❚" : "▶";
}

function stopMotion() {
  player.asked = null;
  if (!player.motion && $("player").hidden) return;
  player.motion = null;
  shown.motion = null;
  $("player").hidden = true;
  drawScene();
}

$("play").addEventListener("click", () => {
  if (!player.motion) return;
  if (player.time >= player.motion.times.at(-1)) player.time = 0;
  Object.assign(player, { playing: !player.playing, last: null });
  drawMotion();
  requestAnimationFrame(tick);
});
$("time").addEventListener("input", () => {
  if (!player.motion) return;
  Object.assign(player, { playing: false, time: Number($("time").value) });
  drawMotion();
});
$("stop").addEventListener("click", () => { stopMotion(); unpin(); });
