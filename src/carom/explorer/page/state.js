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
  for (const [key, x] of Object.entries(state.restitution)) words.push(`e.${encodeURIComponent(key)}=${x}`);
  if (state.v) words.push(`v=${state.v.join(",")}`);
  if (state.axes) words.push(`axes=${state.axes.join(",")}`);
  if (pinned) words.push(`outcome=${pinned.join(",")}`);
  return `#${words.join("&")}`;
}

// What the server takes; a message beyond it would close the connection.
const LARGEST = 1e9;
const MOST_ENTRIES = 64;
const LONGEST_NAME = 200;
const readNumbers = (text) => text.split(",").map((word) => (word.trim() ? Number(word) : NaN));
// A number that is none compares as false.
const allGood = (list) => list.length <= MOST_ENTRIES && list.every((x) => Math.abs(x) <= LARGEST);

// The state that a subject has without changes.
const ownState = (subject) => ({ subject, parameters: {}, mu: {}, restitution: {}, v: null, axes: null });
const isEmpty = (changes) => !Object.keys(changes).length;
const isOwn = (it) => isEmpty(it.parameters) && isEmpty(it.mu) && isEmpty(it.restitution) && !it.v && !it.axes;

function decodeState(hash) {
  const first = { ...ownState(null), ...hello.first };
  const found = ownState(first.subject);
  let outcome = null;
  if (!hash || hash.length < 2) return [structuredClone(first), null];
  for (const part of hash.slice(1).split("&")) {
    const cut = part.indexOf("=");
    let key, value;
    try { key = decodeURIComponent(part.slice(0, cut)); value = decodeURIComponent(part.slice(cut + 1)); }
    catch { continue; }
    const numbers = readNumbers(value);
    if (key === "scene" && hello.subjects.some((each) => each.name === value)) found.subject = value;
    else if (key.startsWith("set.") && allGood(numbers)) found.parameters[key.slice(4)] = numbers[0];
    else if (key.startsWith("mu.") && allGood(numbers) && isName(key.slice(3), found.mu)) found.mu[key.slice(3)] = numbers[0];
    else if (key.startsWith("e.") && allGood(numbers) && isName(key.slice(2), found.restitution)) found.restitution[key.slice(2)] = numbers[0];
    else if (key === "v" && allGood(numbers)) found.v = numbers;
    else if (key === "outcome" && allGood(numbers)) outcome = numbers;
    else if (key === "axes" && numbers.length === 2 && numbers.every((x) => Number.isInteger(x) && x >= 0 && x < 1000)) found.axes = numbers;
  }
  const known = hello.subjects.find((each) => each.name === found.subject).controls.map((each) => each.key);
  found.parameters = Object.fromEntries(Object.entries(found.parameters).filter(([key]) => known.includes(key)));
  return [found, outcome];
}

const isName = (name, among) => name && name.length <= LONGEST_NAME && Object.keys(among).length < MOST_ENTRIES;

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
const BAD_MESSAGE = 1007;
let isApplied = false; // whether controls show the state
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
    if (event.code === BAD_MESSAGE && state) {
      // Asked once more, the same would close it once more.
      [state, pinned, isApplied] = [ownState(state.subject), null, false];
    }
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
