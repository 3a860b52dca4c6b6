// Virtual hands: keys, mouse, gamepads and touch pads push them around, and the server sees controllers.
// Device frame: x right, y up, z backward [m]; quaternions x, y, z, w.

const SPEED = 0.22; // [m/s]
const TURN = 1.1; // [rad/s]
const DRAG = 0.0011; // [m/px]
const DRAG_TURN = 0.006; // [rad/px]
const WHEEL = 0.00018; // [m per wheel unit]
const DEAD_ZONE = 0.12;
const TAKING = 60; // How long the clutch may take to close: a frame of the robot and a sample that came late [ms].
const TAP = 1 / 60; // A key that is up again before the next sample counts as held for this long [s].
const SEEN = 1500; // The robot has seen a sample after this long, or never will [ms].
const LINGER = 90; // A drag or a turn of the wheel counts as held for this long [ms].

const MOVES = { // key code: axis, sign
  KeyW: ["z", -1], KeyS: ["z", 1], KeyA: ["x", -1], KeyD: ["x", 1], KeyE: ["y", 1], KeyQ: ["y", -1],
};
const TURNS = { // key code: axis of the turn, sign
  ArrowLeft: [1, 1], ArrowRight: [1, -1], ArrowUp: [0, 1], ArrowDown: [0, -1], KeyZ: [2, 1], KeyX: [2, -1],
};
const DRIVES = { KeyI: ["ly", 1], KeyM: ["ly", -1], KeyJ: ["rx", -1], KeyL: ["rx", 1] };

export const KEYS = new Set([...Object.keys(MOVES), ...Object.keys(TURNS), ...Object.keys(DRIVES)]);

export function turned(q, axis, angle) {
  // Left-composed: the turn is about a fixed axis of the device frame.
  const half = angle / 2, s = Math.sin(half), w = Math.cos(half);
  const a = [axis === 0 ? s : 0, axis === 1 ? s : 0, axis === 2 ? s : 0, w];
  return normalised(multiplied(a, q));
}

export function multiplied(a, b) {
  const [ax, ay, az, aw] = a, [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

export function normalised(q) {
  const n = Math.hypot(...q);
  return n > 1e-9 ? q.map((v) => v / n) : [0, 0, 0, 1];
}

class Hand {
  position = [0, 1, -0.4];
  orientation = [0, 0, 0, 1];
  closed = false;
  grip = 0; // Analog trigger of a gamepad.
  touched = -Infinity; // When it was last pushed [ms].
  owed = [0, 0, 0]; // What it was pushed by before the clutch had hold of it [m].
  taken = -Infinity; // When the clutch was last closed [ms] ...
  takenSeq = -1; // ... and with which sample.
  paidSeq = -1; // The sample in which it was moved by what was owed.

  move(x, y, z) {
    this.position = [this.position[0] + x, this.position[1] + y, this.position[2] + z];
  }

  sample(held, sticks) {
    return {
      grip_position: this.position, grip_orientation: this.orientation, grip_is_valid: true,
      squeeze_value: held ? 1 : 0, trigger_value: Math.max(this.closed ? 1 : 0, this.grip),
      thumbstick_x: sticks[0], thumbstick_y: sticks[1],
    };
  }
}

export class VirtualHands {
  constructor() {
    this.hands = { controller_left: new Hand(), controller_right: new Hand() };
    this.active = "controller_right";
    this.positionsOnly = false;
    this.pressed = new Set();
    this.tapped = new Set(); // Keys that went down since the last sample: they count once, however short they were.
    this.pads = {}; // name: [x, y]
    this.held = new Set(); // "up", "down", "tilt" of the touch buttons
    this.holding = false; // The hand is held without being moved: a policy stands back.
    this.phone = null; // Where a phone pointed last.
    this.forward = null; // What was ahead when it was taken hold of.
    this.last = performance.now();
    this.padButtons = {};
    this.seq = 0; // Number of the sample that is made next.
    this.used = -1; // Number of the sample that the robot used last, as far as it has said.
    this.listening = false; // Whether the robot uses samples at all: time runs.
    this.source = "keyboard and mouse";
  }

  press(code) { this.pressed.add(code); this.tapped.add(code); }

  letGo() { this.pressed.clear(); this.tapped.clear(); this.held.clear(); this.pads = {}; }

  // The robot says how its grippers are; hands that are not being driven take that over.
  adopt(arms) {
    for (const arm of arms) if (this.hands[arm.device]) this.hands[arm.device].closed = arm.closed > 0.5;
  }

  get hand() { return this.hands[this.active]; }

  swap(devices) {
    if (devices.length > 1) this.active = devices[(devices.indexOf(this.active) + 1) % devices.length];
  }

  use(devices) {
    if (devices.length && !devices.includes(this.active)) this.active = devices[devices.length - 1];
  }

  toggleGrip() { this.hand.closed = !this.hand.closed; }

  drag(dx, dy, turning) {
    const hand = this.hand;
    if (turning) this.rotate(1, -dx * DRAG_TURN), this.rotate(0, -dy * DRAG_TURN);
    else hand.move(dx * DRAG, 0, dy * DRAG);
    hand.touched = performance.now();
  }

  wheel(delta) {
    this.hand.move(0, -delta * WHEEL, 0);
    this.hand.touched = performance.now();
  }

  rotate(axis, angle) {
    // An arm that follows positions has one turn, that of its wrist: every turn is that one.
    this.hand.orientation = turned(this.hand.orientation, this.positionsOnly ? 2 : axis, angle);
  }

  // Where the sensors of a phone say that it points [degrees]. While it is held, the hand turns as the phone does.
  tilt(alpha, beta, gamma) {
    const now = phoneQuat(alpha, beta, gamma), before = this.phone;
    this.phone = now;
    if (!this.held.has("tilt")) { this.forward = null; return; }
    this.forward ??= phoneForward(now);
    this.hand.touched = performance.now();
    if (!before) return;
    const [fx, fy] = this.forward;
    const [x, y, z, w] = multiplied(now, [-before[0], -before[1], -before[2], before[3]]); // About axes east, north, up.
    const turn = [x * fy - y * fx, z, -(x * fx + y * fy), w]; // About right, up, back of who holds it.
    if (this.positionsOnly) this.rotate(2, 2 * Math.atan2(turn[2], turn[3]));
    else this.hand.orientation = normalised(multiplied(turn, this.hand.orientation));
  }

  // Advance by the time since the last call and return the samples; onButton(name) is told about gamepad presses.
  samples(onButton) {
    const now = performance.now();
    const dt = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    const slow = this.pressed.has("ShiftLeft") || this.pressed.has("ShiftRight") ? 0.25 : 1;
    const step = { x: 0, y: 0, z: 0 }, turns = [0, 0, 0], sticks = { ly: 0, rx: 0 };
    for (const code of new Set([...this.pressed, ...this.tapped])) {
      const weight = this.pressed.has(code) ? 1 : TAP / Math.max(dt, 1e-3);
      if (MOVES[code]) step[MOVES[code][0]] += weight * MOVES[code][1];
      if (TURNS[code]) turns[TURNS[code][0]] += weight * TURNS[code][1];
      if (DRIVES[code]) sticks[DRIVES[code][0]] += DRIVES[code][1];
    }
    const move = this.pads.move, turn = this.pads.turn;
    if (move) step.x += move[0], step.z += move[1];
    if (turn) turns[1] -= turn[0], turns[0] -= turn[1];
    if (this.held.has("up")) step.y += 1;
    if (this.held.has("down")) step.y -= 1;
    this.readGamepad(step, turns, onButton);
    this.tapped.clear();
    const hand = this.hand, pushed = step.x || step.y || step.z || turns.some(Boolean);
    const way = ["x", "y", "z"].map((axis) => SPEED * slow * dt * step[axis]);
    // The clutch takes hold where the hand is: the first pushes are owed until the robot has surely seen it closed. A key
    // that is up again waits until the robot says so, for a busy machine may be late; then the hand is held until the robot
    // has seen what was owed, too.
    let owes = hand.owed.some(Boolean);
    if (pushed && !owes && now - hand.touched >= LINGER) Object.assign(hand, { taken: now, takenSeq: this.seq });
    const awaits = (seq, since) => this.listening && this.used < seq && now - since < SEEN;
    if (now - hand.taken < TAKING || (owes && !pushed && awaits(hand.takenSeq, hand.taken))) hand.owed = hand.owed.map((v, k) => v + way[k]);
    else {
      hand.move(...way.map((v, k) => v + hand.owed[k]));
      if (owes) Object.assign(hand, { owed: [0, 0, 0], touched: now, paidSeq: this.seq });
      turns.forEach((amount, axis) => amount && this.rotate(axis, TURN * slow * dt * amount));
    }
    if (pushed) hand.touched = now;
    owes = hand.owed.some(Boolean) || awaits(hand.paidSeq, hand.touched);
    const held = this.holding || owes || now - hand.touched < LINGER;
    const other = this.active === "controller_right" ? "controller_left" : "controller_right";
    const sample = { [this.active]: hand.sample(held, [0, 0]), [other]: this.hands[other].sample(false, [0, 0]) };
    sample.controller_left.thumbstick_y = clipped(sticks.ly);
    sample.controller_right.thumbstick_x = clipped(sticks.rx);
    return sample;
  }

  readGamepad(step, turns, onButton) {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((p) => p && p.connected && p.buttons.length >= 8);
    if (!pad) {
      this.source = "keyboard and mouse";
      this.hand.grip = 0;
      return;
    }
    this.source = `gamepad: ${pad.id.split("(")[0].trim() || "standard"}`;
    const axis = (k) => (Math.abs(pad.axes[k] ?? 0) > DEAD_ZONE ? pad.axes[k] : 0);
    const pressed = (k) => Number(pad.buttons[k]?.pressed ?? false);
    step.x += axis(0); step.z += axis(1); step.y -= axis(3);
    turns[1] -= axis(2);
    turns[2] += pressed(4) - pressed(5);
    turns[0] += pressed(12) - pressed(13);
    this.hand.grip = Math.min(1, Math.max(0, pad.buttons[7]?.value ?? 0));
    const names = { 0: "run", 1: "stop", 2: "reset", 3: "save", 6: "rewind", 8: "discard", 9: "undo", 10: "swap", 11: "mark" };
    for (const [k, name] of Object.entries(names)) {
      const down = pad.buttons[k]?.pressed ?? false;
      if (down && !this.padButtons[k]) onButton(name);
      this.padButtons[k] = down;
    }
  }
}

// The turns of DeviceOrientationEvent, about z, then x, then y, as a quaternion.
export function phoneQuat(alpha, beta, gamma) {
  const turn = (axis, degrees) => {
    const half = (degrees * Math.PI) / 360, q = [0, 0, 0, Math.cos(half)];
    q[axis] = Math.sin(half);
    return q;
  };
  return normalised(multiplied(multiplied(turn(2, alpha), turn(0, beta)), turn(1, gamma)));
}

// The horizontal direction (east, north) ahead of who looks at a phone: between its upper edge and its back.
function phoneForward(q) {
  const [x, y] = rotated(q, [0, 1, -1]), length = Math.hypot(x, y);
  return length > 1e-3 ? [x / length, y / length] : [0, 1];
}

function rotated(q, v) {
  return multiplied(multiplied(q, [...v, 0]), [-q[0], -q[1], -q[2], q[3]]).slice(0, 3);
}

function clipped(value) { return Math.min(1, Math.max(-1, value)); }
