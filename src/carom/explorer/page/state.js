// What is on the screen: the state, which the URL holds, and the answers that are shown.

let hello = null;
let state = null;
// The last answers, by type, all of one number once they have arrived.
const shown = { number: -1, scene: null, samples: null, exact: null, extremes: null, outcome: null, motion: null, failed: null };
let pinned = null;
let dragging = false;

function subjectNow() { return hello.subjects.find((each) => each.name === state.subject); }

function encodeState() {
  const words = [`scene=${encodeURIComponent(state.subject)}`];
  for (const [key, x] of Object.entries(state.parameters)) words.push(`set.${encodeURIComponent(key)}=${x}`);
  for (const [key, x] of Object.entries(state.mu)) words.push(`mu.${encodeURIComponent(key)}=${x}`);
  if (state.v) words.push(`v=${state.v.join(",")}`);
  if (state.axes) words.push(`axes=${state.axes.join(",")}`);
  if (pinned) words.push(`outcome=${pinned.join(",")}`);
  return `#${words.join("&")}`;
}

const readNumbers = (text) => text.split(",").map(Number);
const allFinite = (list) => list.length > 0 && list.length <= 64 && list.every(Number.isFinite);

function decodeState(hash) {
  const first = { parameters: {}, mu: {}, v: null, axes: null, ...hello.first };
  const found = { subject: first.subject, parameters: {}, mu: {}, v: null, axes: null };
  let outcome = null;
  if (!hash || hash.length < 2) return [structuredClone(first), null];
  for (const part of hash.slice(1).split("&")) {
    const cut = part.indexOf("=");
    let key, value;
    try { key = decodeURIComponent(part.slice(0, cut)); value = decodeURIComponent(part.slice(cut + 1)); }
    catch { continue; }
    const numbers = readNumbers(value);
    if (key === "scene" && hello.subjects.some((each) => each.name === value)) found.subject = value;
    else if (key.startsWith("set.") && allFinite(numbers)) found.parameters[key.slice(4)] = numbers[0];
    else if (key.startsWith("mu.") && allFinite(numbers)) found.mu[key.slice(3)] = numbers[0];
    else if (key === "v" && allFinite(numbers)) found.v = numbers;
    else if (key === "outcome" && allFinite(numbers)) outcome = numbers;
    else if (key === "axes" && numbers.length === 2 && numbers.every((x) => Number.isInteger(x) && x >= 0 && x < 1000)) found.axes = numbers;
  }
  return [found, outcome];
}

let writeTimer = null;
function writeUrl() {
  // Browsers refuse more than some hundred changes in half a minute.
  clearTimeout(writeTimer);
  writeTimer = setTimeout(() => {
    history.replaceState(null, "", location.pathname + location.search + encodeState());
  }, 250);
}

// The socket: it reconnects by itself, and asks again for what is on the screen.
let socket = null;
let number = 0;
const handlers = {};
const asked = new Map(); // numbers of requests for sets, and when the event happened [ms]
const latencies = [];

function connect() {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const address = new URL("/socket", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.search = new URLSearchParams({ token }).toString();
  address.hash = "";
  socket = new WebSocket(address);
  socket.onmessage = (event) => {
    const answer = JSON.parse(event.data);
    handlers[answer.type]?.(answer);
  };
  socket.onclose = (event) => {
    setStatus("off", event.reason || "not connected: is carom explore running?");
    asked.clear();
    outcomeBusy = false;
    setTimeout(connect, 700);
  };
}

function send(message) {
  if (tapes && state) {
    number += 1;
    playBack({ number, state: structuredClone(state), ...message });
    return number;
  }
  if (socket?.readyState !== WebSocket.OPEN || !state) return null;
  number += 1;
  socket.send(JSON.stringify({ number, state, ...message }));
  return number;
}

// Ask for the set of the state; `when` is the time of the event that changed it.
let stillTimer = null;
function ask(when = performance.now()) {
  const sent = send({ kind: "set", live: dragging });
  if (sent === null) return;
  asked.set(sent, when);
  if (asked.size > 2000) asked.delete(asked.keys().next().value);
  writeUrl();
  clearTimeout(stillTimer);
  // Proofs take longer than sets: they wait until nothing moves.
  stillTimer = setTimeout(() => send({ kind: "extremes" }), 350);
}

function change(edit) {
  const when = performance.now();
  edit();
  pinned = null;
  closeOutcome();
  stopMotion();
  ask(when);
}

// All requests up to a number are answered: what came between was overtaken.
function answered(upTo, exactly = false) {
  const now = performance.now();
  for (const [key, when] of asked) {
    if (key > upTo) break;
    asked.delete(key);
    // Only what led to an exact set counts.
    if (exactly) latencies.push(now - when);
    if (latencies.length > 20000) latencies.shift();
  }
}

let outcomeBusy = false;
let outcomeNext = null;
// What the page waits for: null if nothing, else whether to pin and play it.
let wanted = { pin: false };
function askOutcome(where, pin = false) {
  wanted = { pin };
  if (outcomeBusy) { outcomeNext = where; return; }
  outcomeBusy = send({ kind: "outcome", ...where }) !== null;
}

function setStatus(kind, text) {
  const box = $("status");
  if (box.dataset.kind !== kind) box.dataset.kind = kind;
  if (box.textContent !== text) box.textContent = text;
}
