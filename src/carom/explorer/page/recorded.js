// A page without a server: answers that were computed before, over two sliders per scene.

const record = $("recorded");
let tapes = null;

async function unpack() {
  const bytes = Uint8Array.from(atob(record.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  tapes = JSON.parse(await new Response(stream).text());
}

// The answers at the grid point next to the state.
function tapeOf({ subject, parameters }) {
  const controls = tapes.hello.subjects.find((each) => each.name === subject).controls;
  const place = controls.map(({ key, low, high, default: own, steps }) =>
    Math.max(0, Math.min(steps, Math.round((((parameters[key] ?? own) - low) / (high - low)) * steps))));
  return tapes.answers[[subject, ...place].join("|")];
}

function playBack(message) {
  const tape = tapeOf(message.state);
  const answer = (found) => setTimeout(() => handlers[found.type]({ ...structuredClone(found), number: message.number }));
  if (message.kind === "set") {
    for (const found of tape.stages) answer(found);
  } else if (message.kind === "outcome") {
    const distance = ({ v, at }) => (message.v
      ? Math.hypot(...message.v.map((x, k) => x - v[k]))
      : Math.hypot(...message.plane.map((row, k) => message.at[k] - at[row])));
    answer(tape.outcomes.reduce((best, each) => (distance(each) < distance(best) ? each : best)));
  }
}

async function startRecorded() {
  document.documentElement.dataset.recorded = "";
  await unpack();
  handlers.hello(tapes.hello);
}
