// The page: one socket, pictures and state come in, samples of hands and commands go out.
import { KEYS, VirtualHands } from "./hands.js";
import { JointSliders } from "./joints.js";
import { XrHands, supported } from "./xr.js";

const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") ?? "";
const hands = new VirtualHands();
const sliders = new JointSliders($("joints"));
let socket = null, state = {}, seq = 0, xr = null, roundTrip = null, attempts = 0, asked = "", askedAt = 0, notice = "";
const small = matchMedia("(max-width: 52rem), (max-height: 30rem)"); // What became of an attempt is out of sight beside the picture.
const SURE = 3000; // A second press counts as a yes for this long [ms].
const canvases = new Map();
const RIGHT_EYE = "operator_right";

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/socket?token=${encodeURIComponent(token)}&desk=${sessionStorage.getItem("desk") ?? ""}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => { attempts = 0; seq = 0; banner(""); ping(); };
  socket.onmessage = ({ data }) => (typeof data === "string" ? heard(JSON.parse(data)) : seen(data));
  socket.onclose = () => {
    if (state.phase === "finished") return banner(finished(), true);
    // Nothing can be pressed until the server is back and says how things stand.
    state = { ...state, state: "stopped", role: "lost", free: false, recording: false };
    attempts += 1;
    hands.letGo();
    if (state.task) show();
    lost();
  };
}

// A socket that is refused gives no reason; a plain request does.
async function lost() {
  let status = 0;
  try { status = (await fetch(`check?token=${encodeURIComponent(token)}`, { cache: "no-store" })).status; } catch { /* Nobody is there. */ }
  if (status === 403) return banner("This address has the token of another run. Open the address that handloom printed.");
  banner(status === 0 ? "No answer: handloom is not running, or the network is down. The robot has stopped. Trying again …"
    : "Not connected; the robot has stopped. Trying again …");
  setTimeout(connect, Math.min(5000, 400 * attempts));
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < 65536) socket.send(JSON.stringify({ ...message, session: state.session }));
}

function command(name) { send({ type: "command", command: name }); }

function ping() { send({ type: "ping", sent: performance.now() }); }
setInterval(ping, 1000);

function heard(message) {
  if (message.type === "pong") {
    const took = performance.now() - message.sent;
    roundTrip = roundTrip === null ? took : 0.7 * roundTrip + 0.3 * took;
    return;
  }
  const before = state;
  state = message;
  [hands.used, hands.listening] = [state.used ?? -1, state.state === "running"];
  if (state.desks > 1) sessionStorage.setItem("desk", state.desk); // A page that is loaded again goes back to its own desk.
  if (state.state !== "running") { hands.adopt(state.arms ?? []); hands.holding = false; }
  else hands.adopt((state.arms ?? []).filter((arm) => arm.driver === "policy"));
  if (state.episode !== before.episode || state.phase !== before.phase) asked = "";
  show();
  xr?.told(before, state);
}

async function seen(data) {
  const index = new Uint8Array(data, 0, 1)[0];
  const camera = state.cameras?.[index];
  if (!camera) return;
  const bitmap = await createImageBitmap(new Blob([new Uint8Array(data, 5)], { type: "image/jpeg" }));
  const canvas = canvases.get(camera.name);
  if (canvas) {
    canvas.head = new DataView(data).getUint32(1, true); // The pose of the head that it was drawn for.
    if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
      [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      canvas.parentElement?.style.setProperty("--aspect", (bitmap.width / bitmap.height).toFixed(4));
      setTimeout(tellSize, 50); // Its shape is known now.
    }
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    canvas.dataset.drawn = Number(canvas.dataset.drawn ?? 0) + 1;
  }
  bitmap.close();
}

function text(id, value) { if ($(id).textContent !== value) $(id).textContent = value; }

function banner(words, isGood = false) { $("banner").hidden = !words; $("banner").textContent = words; $("banner").classList.toggle("good", isGood); }

function show() {
  const body = document.body.dataset;
  const ended = state.phase === "over";
  [body.state, body.phase, body.role] = [ended ? "over" : state.state, state.phase, state.role];
  text("task", `${state.task} · scene ${state.episode ?? "…"}${state.is_again ? ", again" : ""}${state.desks > 1 ? ` · desk ${state.desk} of ${state.desks}` : ""}`);
  text("instruction", state.said || (state.instruction ?? "preparing the scene …"));
  text("chip-state", ended ? (state.outcome?.success ? "done" : "over") : state.state);
  $("chip-recording").hidden = !state.recording;
  const yours = (state.arms ?? []).some((arm) => arm.engaged);
  $("chip-driver").hidden = $("takeover").hidden = !state.policy;
  text("chip-driver", yours ? "you drive" : "policy drives");
  $("chip-driver").classList.toggle("yours", yours);
  const left = Math.max(0, (state.limit ?? 0) - (state.seconds ?? 0));
  text("clock", state.limit == null ? "—" : `${small.matches ? "" : `${(state.seconds ?? 0).toFixed(1)} s · `}${left.toFixed(0)} s left`);
  $("chip-clock").classList.toggle("soon", state.limit != null && left < 10);
  const latency = roundTrip === null || state.wait_ms == null ? null : roundTrip / 2 + state.wait_ms;
  $("chip-link").hidden = latency === null || state.role === "lost";
  $("chip-pictures").hidden = state.pictures_per_s == null || state.role === "lost";
  text("chip-link", `${(latency ?? 0).toFixed(0)} ms`);
  text("chip-pictures", `${(state.pictures_per_s ?? 0).toFixed(0)} pictures/s`);
  text("chip-role", { control: "in control", lost: "not connected" }[state.role] ?? "watching");
  $("chip-role").classList.toggle("watching", state.role !== "control");
  text("chip-saved", `${state.saved ?? 0} saved${state.waiting ? `, writing ${state.waiting} …` : ""}`);
  $("claim").hidden = !(state.role === "watch" && state.free);
  $("run").hidden = $("stop").hidden = !$("claim").hidden;
  showViews();
  showGoals();
  showWords();
  showArms();
  showButtons();
  const over = state.phase === "over" && state.outcome, large = document.querySelector(".view.large");
  if (large && hint() !== (large.dataset.hint ?? "")) hint() ? (large.dataset.hint = hint()) : delete large.dataset.hint;
  if (state.phase === "finishing") banner(state.waiting ? `Writing ${state.waiting} demonstrations, then the dataset …` : "Writing the dataset …");
  else if (state.phase === "finished") banner(finished(), true);
  else if (socket.readyState === WebSocket.OPEN) banner(state.problem || state.leader || (asked ? notice : "") || (small.matches && over ? $("outcome").textContent : ""), over && state.outcome.success && !state.problem && !asked);
}

function finished() {
  return `The session is finished: ${state.saved === 1 ? "1 demonstration is" : `${state.saved ?? 0} demonstrations are`} in the dataset. You can close this page.`;
}

// What a newcomer needs to know stands in the picture until time runs for the first time.
function hint() {
  if (state.role !== "control" || state.state === "running" || !["ready", "driving"].includes(state.phase)) return "";
  const touch = !$("pads").hidden;
  if (state.seconds > 0) return touch ? "Time is stopped: press Start to continue" : "Time is stopped: press Start (Enter) to continue";
  return touch ? "Press Start, then move the hand with the pads" : "Press Start (Enter), then move the hand with W A S D, E Q; ? shows all keys";
}

function showViews() {
  const names = (state.cameras ?? []).map((camera) => camera.name);
  if ([...names].sort().join() === [...canvases.keys()].sort().join()) return;
  canvases.clear();
  // The view of the right eye is for the headset: it has a canvas, and no place on the page.
  if (names.includes(RIGHT_EYE)) canvases.set(RIGHT_EYE, document.createElement("canvas"));
  $("views").replaceChildren(...names.filter((name) => name !== RIGHT_EYE).map((name, index) => {
    const figure = document.createElement("figure"), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    figure.className = index === 0 ? "view large" : "view";
    figure.title = "Drag to move, wheel for up and down, right button to turn; double-click to enlarge";
    canvas.id = `view-${name}`;
    caption.textContent = name;
    figure.append(canvas, caption);
    grabbable(figure);
    canvases.set(name, canvas);
    return figure;
  }));
  requestAnimationFrame(tellSize);
}

// The large view is drawn as large as it is shown, within what the server allows.
let told = "";
function tellSize() {
  const canvas = document.querySelector(".view.large canvas"), box = canvas?.getBoundingClientRect();
  if (!box?.width || state.role !== "control" || xr) return;
  const density = Math.min(2, devicePixelRatio || 1);
  const side = (length) => Math.max(16, Math.min(4096, Math.round(length * density)));
  const message = { type: "view", name: canvas.id.replace("view-", ""), width: side(box.width), height: side(box.height) };
  const key = JSON.stringify([message, state.session]);
  if (key !== told) { told = key; send(message); }
}
addEventListener("resize", () => setTimeout(tellSize, 200));

function words(goal) { return goal.words || [goal.skill, ...goal.objects].join(" ").replaceAll("_", " "); }

function showGoals() {
  text("progress", state.progress == null ? "" : `${Math.round(100 * state.progress)} %`);
  $("done").replaceChildren(...(state.done ?? []).map((goal) => item(words(goal))));
  $("goals").replaceChildren(...(state.goals ?? []).map((goal) => {
    const entry = item(words(goal)), terms = document.createElement("ul");
    for (const [name, holds] of goal.terms) {
      const term = item(name.replaceAll("_", " "));
      term.className = holds ? "holds" : "";
      terms.append(term);
    }
    entry.append(terms);
    return entry;
  }));
  $("outcome").hidden = !state.outcome;
  if (state.outcome) {
    $("outcome").className = state.outcome.success ? "success" : "";
    text("outcome", state.outcome.success ? `✓ ${state.outcome.text} Save it (Finish also saves it), or go back and improve it.` : `Not done: ${state.outcome.text}`);
  }
}

function showWords() {
  text("mark-now", state.mark ?? "");
  const known = (state.suggestions ?? []).join("\n");
  if ($("mark-list").dataset.known === known) return;
  $("mark-list").dataset.known = known;
  $("mark-list").replaceChildren(...(state.suggestions ?? []).map((words) => new Option(words, words)));
  $("mark-text").placeholder = state.suggestions?.[0] ? `next: ${state.suggestions[0]}` : "sub-task that starts now";
}

function item(words) {
  const entry = document.createElement("li");
  entry.textContent = words;
  return entry;
}

function showArms() {
  const arms = state.arms ?? [];
  hands.use(arms.map((arm) => arm.device));
  hands.positionsOnly = Boolean(arms.find((arm) => arm.device === hands.active)?.positions_only);
  $("arms").replaceChildren(...arms.map((arm) => {
    const entry = document.createElement("li"), name = document.createElement("b"), clutch = document.createElement("span");
    name.textContent = (arms.length > 1 ? arm.name : arm.robot).replaceAll("_", " ");
    const live = state.state === "running" && state.phase !== "over", held = live && arm.held_up, engaged = live && arm.engaged;
    clutch.textContent = arm.joining ? "moving to the leader" : held ? "blocked" : engaged ? "engaged" : arm.driver === "policy" ? "policy" : "free";
    clutch.className = held ? "clutch held-up" : engaged ? "clutch engaged" : "clutch";
    if (arm.device === hands.active && !xr) entry.className = "active";
    entry.append(name, clutch);
    return entry;
  }));
  sliders.show(arms.find((arm) => arm.device === hands.active));
  text("device", xr ? "headset or phone" : hands.source);
}

function showButtons() {
  const mine = state.role === "control", driving = state.phase === "ready" || state.phase === "driving", over = state.phase === "over";
  const running = driving && state.state === "running", begun = driving && state.seconds > 0;
  label("run", running ? "Pause" : "Start");
  $("run").disabled = !(mine && driving);
  $("stop").disabled = !(mine && driving);
  const failed = state.keeps_failures && (begun || (over && !state.outcome?.success));
  label("save", state.problem ? "Save again" : failed ? "Save failure" : "Save");
  $("save").disabled = !(mine && maySave());
  $("rewind").disabled = !(mine && (begun || over));
  $("undo").disabled = !(mine && state.may_undo && (driving || over));
  $("again").disabled = !(mine && state.may_again && (driving || over));
  $("takeover").disabled = !(mine && running);
  label("takeover", hands.holding ? "Hand back" : "Take over");
  $("mark").disabled = !(mine && running);
  $("say").disabled = !(mine && (driving || over));
  for (const id of ["reset", "discard", "finish"]) $(id).disabled = !(mine && (driving || over));
}

function label(id, words) { const span = $(id).querySelector("span"); if (span.textContent !== words) span.textContent = words; }

function maySave() {
  if (state.problem) return true;
  if (state.phase === "over") return Boolean(state.outcome?.may_save);
  return Boolean(state.keeps_failures && state.phase === "driving" && state.seconds > 0);
}

// What would throw an attempt away needs a second press, unless there is nothing to throw away yet.
function sure(name, words) {
  const risky = state.phase === "over" ? state.outcome?.success : state.phase === "driving" && state.seconds > 1;
  const now = performance.now();
  if (!risky || (asked === name && now - askedAt < SURE)) { asked = ""; return command(name); }
  [asked, askedAt, notice] = [name, now, words];
  banner(words);
  setTimeout(() => { if (asked === name && performance.now() - askedAt >= SURE) { asked = ""; show(); } }, SURE + 50);
}

function save() {
  if (state.problem && state.phase !== "over") return command("retry");
  if (!maySave()) return;
  if (state.phase === "over") { command("save"); if (state.problem) command("retry"); }
  else sure("save", "Save this attempt as a failure? Press again.");
}

const BUTTONS = {
  run: () => command(state.state === "running" ? "pause" : "start"),
  stop: () => command("stop"),
  save,
  rewind: () => send({ type: "command", command: "rewind", seconds: 2 }),
  undo: () => state.may_undo && command("undo"),
  reset: () => sure("reset", "Drop this attempt and try again? Press again to confirm. Bring back (U) undoes this."),
  discard: () => sure("discard", "Go to the next scene without saving? Press again to confirm. Bring back (U) undoes this."),
  finish: () => (state.phase === "over" ? command("finish") : sure("finish", "Finish without saving this attempt? Press again.")),
  more: () => { const open = document.body.classList.toggle("more"); $("more").setAttribute("aria-expanded", String(open)); },
  claim: () => command("claim"),
  mark: () => { send({ type: "mark", kind: "subtask", text: $("mark-text").value }); $("mark-text").value = ""; },
  say: () => { send({ type: "mark", kind: "instruction", text: $("said-text").value }); $("said-text").value = ""; },
  again: () => state.may_again && sure("again", "Leave this attempt and record the last saved scene again? Press again to confirm."),
  takeover: () => { if (state.policy && state.state === "running") hands.holding = !hands.holding; show(); },
  joints: () => { sliders.toggle(); $("joints-toggle").setAttribute("aria-expanded", String(sliders.open)); show(); },
  swap: () => hands.swap((state.arms ?? []).map((arm) => arm.device)),
  help: () => ($("help-dialog").open ? $("help-dialog").close() : $("help-dialog").showModal()),
};
for (const id of ["run", "stop", "save", "rewind", "undo", "more", "reset", "discard", "finish", "claim", "help", "mark", "say", "again", "takeover"]) {
  // A click of the mouse leaves no focus behind, so that keys drive; whoever went there by Tab stays there.
  $(id).addEventListener("click", (event) => { BUTTONS[id](); if (event.detail > 0) event.currentTarget.blur(); });
}

for (const [id, button] of [["mark-text", "mark"], ["said-text", "say"]]) {
  $(id).addEventListener("keydown", (event) => {
    event.stopPropagation(); // Letters are written, not driven with.
    if (event.key === "Enter") BUTTONS[button]();
    if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
  });
}

$("joints-toggle").addEventListener("click", () => BUTTONS.joints());
const SHORTCUTS = {
  Enter: "run", Escape: "stop", KeyK: "save", KeyR: "reset", KeyN: "discard", KeyT: "mark", KeyO: "swap", KeyB: "rewind", KeyU: "undo", KeyG: "again", KeyP: "takeover",
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") return BUTTONS.help();
  if ($("help-dialog").open) return;
  const focused = document.activeElement;
  if (["Enter", "Space"].includes(event.code) && focused && focused !== document.body && focused.matches("button, input:not([type=range]), a, summary")) return;
  if (KEYS.has(event.code) || event.code.startsWith("Shift")) hands.press(event.code);
  else if (event.code === "Space") { if (!event.repeat && state.state === "running") hands.toggleGrip(); }
  else if (SHORTCUTS[event.code]) { if (!event.repeat) BUTTONS[SHORTCUTS[event.code]](); }
  else return;
  event.preventDefault();
});
addEventListener("keyup", (event) => hands.pressed.delete(event.code));
// A key that goes up while another window is in front is never heard of.
addEventListener("blur", () => hands.letGo());
document.addEventListener("visibilitychange", () => { if (document.hidden) hands.letGo(); });

function grabbable(figure) {
  figure.addEventListener("dblclick", () => {
    for (const other of $("views").children) { other.classList.toggle("large", other === figure); delete other.dataset.hint; }
    show();
    tellSize();
  });
  figure.addEventListener("contextmenu", (event) => event.preventDefault());
  figure.addEventListener("pointerdown", (event) => { figure.setPointerCapture(event.pointerId); figure.classList.add("dragging"); });
  figure.addEventListener("pointerup", () => figure.classList.remove("dragging"));
  figure.addEventListener("pointercancel", () => figure.classList.remove("dragging"));
  figure.addEventListener("pointermove", (event) => {
    if (event.buttons) hands.drag(event.movementX, event.movementY, event.buttons === 2);
  });
  figure.addEventListener("wheel", (event) => { event.preventDefault(); hands.wheel(event.deltaY); }, { passive: false });
}

for (const pad of document.querySelectorAll(".pad")) {
  const moved = (event) => {
    const box = pad.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * 2 - 1, y = (event.clientY - box.top) / box.height * 2 - 1;
    hands.pads[pad.dataset.pad] = [Math.max(-1, Math.min(1, x)), Math.max(-1, Math.min(1, y))];
    pad.classList.add("held");
  };
  const released = () => { delete hands.pads[pad.dataset.pad]; pad.classList.remove("held"); };
  pad.addEventListener("pointerdown", (event) => { pad.setPointerCapture(event.pointerId); moved(event); });
  pad.addEventListener("pointermove", (event) => { if (event.buttons) moved(event); });
  pad.addEventListener("pointerup", released);
  pad.addEventListener("pointercancel", released);
}
for (const button of document.querySelectorAll("[data-hold]")) {
  const name = button.dataset.hold;
  button.addEventListener("pointerdown", () => hands.held.add(name));
  for (const kind of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(kind, () => hands.held.delete(name));
}
$("pads").addEventListener("contextmenu", (event) => event.preventDefault()); // A thumb that is held is no question.
$("pad-grip").addEventListener("click", () => hands.toggleGrip());
// A phone without AR still knows how it is turned.
supported("immersive-ar").then((yes) => { $("pad-tilt").hidden = yes || !("DeviceOrientationEvent" in window); });
$("pad-tilt").addEventListener("pointerdown", () => globalThis.DeviceOrientationEvent?.requestPermission?.().catch(() => {}));
addEventListener("deviceorientation", ({ alpha, beta, gamma }) => {
  if ([alpha, beta, gamma].every(Number.isFinite)) hands.tilt(alpha, beta, gamma);
});
$("pads").hidden = !matchMedia("(pointer: coarse)").matches;

for (const [id, mode] of [["vr", "immersive-vr"], ["ar", "immersive-ar"]]) {
  supported(mode).then((yes) => { $(id).hidden = !yes; });
  $(id).addEventListener("click", async () => {
    if (xr) return xr.end();
    const views = () => (state.cameras ?? []).map((camera) => ({ ...camera, canvas: canvases.get(camera.name) })).filter((view) => view.canvas);
    const stereo = (distance) => send({ type: "stereo", eye_distance: distance });
    const look = (head) => send({ type: "head", ...head });
    const entered = new XrHands(mode, views, (name) => BUTTONS[name](), () => { xr = null; stereo(0); told = ""; tellSize(); }, stereo, look, () => ({ ...state, notice: $("banner").hidden ? "" : $("banner").textContent }));
    // Before the eyes a picture is as large as it gets.
    const largest = () => send({ type: "view", name: state.cameras?.[0]?.name ?? "operator", width: 4096, height: 4096 });
    try { await entered.start(); xr = entered; largest(); } catch (error) { banner(`The headset cannot be used: ${error.message}`); }
  });
}

// Samples go out twice as often as the robot asks for them, so that none is old when it is used; from a timer: frames of
// the page stop while a headset draws its own.
setInterval(() => {
  hands.seq = seq + 1;
  const virtual = hands.samples((name) => BUTTONS[name]?.());
  if (state.role !== "control") return;
  seq += 1;
  send({ type: "input", seq, ...(xr ? xr.latest : { ...virtual, ...sliders.sample(hands.hand.closed) }) });
}, 8);

connect();
window.handloom = { hands, sliders, get state() { return state; }, get xr() { return xr; } };
