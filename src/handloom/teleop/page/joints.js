// Sliders that lead an arm joint by joint: a leader arm on the page.

const TOUCHED = 400; // A slider counts as held for this long after it was moved [ms].
const THERE = 0.01; // The arm has come to where the sliders are [rad].

export class JointSliders {
  constructor(box) {
    Object.assign(this, { box, open: false, device: "", sliders: [], touched: -Infinity, arm: null });
  }

  toggle() { this.open = !this.open; this.device = ""; this.box.hidden = !this.open; }

  // What the robot says; sliders that nobody moves go with the arm.
  show(arm) {
    this.arm = arm ?? null;
    if (!this.open || !arm) return;
    const key = `${arm.device} ${arm.joint_names.join()}`;
    if (key !== this.device) this.build(arm, key);
    if (this.leading) return;
    this.sliders.forEach((slider, k) => { slider.value = arm.joints[k]; this.write(slider); });
  }

  build(arm, key) {
    this.device = key;
    this.sliders = arm.joint_names.map((name, k) => {
      const slider = Object.assign(document.createElement("input"), { type: "range", id: `joint-${name}`, step: "any" });
      [slider.min, slider.max, slider.value] = [arm.lower[k], arm.upper[k], arm.joints[k]];
      slider.setAttribute("aria-label", name.replaceAll("_", " "));
      slider.addEventListener("input", () => { this.touched = performance.now(); this.write(slider); });
      slider.addEventListener("keydown", (event) => this.nudge(event, slider));
      return slider;
    });
    this.box.replaceChildren(...this.sliders.map((slider, k) => {
      const row = document.createElement("label"), name = document.createElement("span"), value = document.createElement("output");
      name.textContent = arm.joint_names[k].replaceAll("_", " ");
      row.append(name, slider, value);
      this.write(slider);
      return row;
    }));
  }

  // Arrow keys move a focused slider by a degree, with shift by a quarter of one.
  nudge(event, slider) {
    const sign = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.code];
    if (!sign) return;
    event.preventDefault();
    event.stopPropagation();
    slider.value = Number(slider.value) + (sign * Math.PI) / 180 * (event.shiftKey ? 0.25 : 1);
    slider.dispatchEvent(new Event("input"));
  }

  write(slider) {
    const output = slider.parentElement?.querySelector("output");
    if (output) output.textContent = `${(Number(slider.value) * 180 / Math.PI).toFixed(0)}°`;
  }

  get joints() { return this.sliders.map((slider) => Number(slider.value)); }

  get leading() {
    if (!this.open || !this.arm || this.sliders.length !== this.arm.joints.length) return false;
    if (performance.now() - this.touched < TOUCHED) return true;
    const far = this.joints.some((q, k) => Math.abs(q - this.arm.joints[k]) > THERE);
    return far && performance.now() - this.touched < 5000 && !this.arm.held_up;
  }

  // What goes to the robot beside the hands; nothing while no slider leads.
  sample(closed) {
    if (!this.leading) return {};
    return { [this.arm.device.replace("controller", "leader")]: { joints: this.joints, gripper: closed ? 1 : 0 } };
  }
}
