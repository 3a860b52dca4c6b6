// A YAML editor: a text area with syntax colours, line numbers, mistakes at their lines, and completion.

import { clear, el } from "../lib/dom.js";
import { highlighted } from "./highlight.js";

const CALM = 350; // Pause in typing after which the text is checked [ms].
const WORD = /[\w./:-]/;

/** An editor; `onchange(text)` is called when typing pauses, `complete(text, place)` answers with suggestions. */
export class Editor {
  constructor(text, { onchange, complete, onsave, readonly = false }) {
    this.onchange = onchange;
    this.complete = complete;
    this.onsave = onsave;
    this.area = el("textarea.yaml-area", {
      value: text, spellcheck: false, wrap: "off", autocapitalize: "off", autocomplete: "off", readOnly: readonly,
      "aria-label": "Task file (YAML)", "aria-autocomplete": "list", "aria-controls": "yaml-choices", "aria-haspopup": "listbox",
      oninput: () => this._typed(), onscroll: () => this._scrolled(), onkeydown: (event) => this._key(event),
      onclick: () => this._close(), onblur: () => setTimeout(() => this._close(), 150),
    });
    this.area.setAttribute("autocorrect", "off");
    this.code = el("pre.yaml-code", { "aria-hidden": "true" });
    this.gutter = el("div.yaml-gutter", { "aria-hidden": "true" });
    this.choices = el("ul.yaml-choices", { id: "yaml-choices", role: "listbox", "aria-label": "Suggestions", hidden: true });
    this.node = el("div.yaml", {}, this.gutter, el("div.yaml-page", {}, this.code, this.area, this.choices));
    this._shown = [];
    this._marks = new Map();
    this._items = [];
    this._draw();
  }

  get text() { return this.area.value; }

  set text(text) {
    this.area.value = text;
    this._draw();
  }

  /** Mark lines: a list of `{ line, text, kind }`. */
  mark(remarks) {
    this._marks = new Map();
    for (const remark of remarks) {
      if (remark.line < 1) continue;
      const old = this._marks.get(remark.line);
      if (!old || old.kind !== "bad") this._marks.set(remark.line, old && old.kind === remark.kind ? { ...old, text: `${old.text}; ${remark.text}` } : remark);
    }
    this.area.setAttribute("aria-invalid", String([...this._marks.values()].some((mark) => mark.kind === "bad")));
    this._shown = [];
    this._draw();
  }

  /** Take the text as written: nobody is told of it any more. */
  settle() { clearTimeout(this._timer); }

  /** Put the cursor into a line and show it. */
  goTo(line) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    this.area.scrollTop = Math.max(0, (line - 4) * this._lineHeight());
    this.area.scrollLeft = 0;
  }

  _lineHeight() { return parseFloat(getComputedStyle(this.code).lineHeight); }

  _draw() {
    const lines = this.text.split("\n");
    while (this.code.children.length > lines.length) { this.code.lastChild.remove(); this.gutter.lastChild.remove(); }
    lines.forEach((line, k) => {
      if (k < this._shown.length && this._shown[k] === line && this.code.children[k]) return;
      const mark = this._marks.get(k + 1);
      const row = el("div.yaml-line", { class: mark?.kind ?? "" }, highlighted(line),
        mark && el("span.yaml-ghost", {}, `  ${mark.text.split("\n")[0]}`));
      const number = el("div", { class: mark?.kind ?? "", title: mark?.text ?? "" }, String(k + 1));
      if (this.code.children[k]) {
        this.code.children[k].replaceWith(row);
        this.gutter.children[k].replaceWith(number);
      } else {
        this.code.append(row);
        this.gutter.append(number);
      }
    });
    this._shown = lines;
    this._scrolled();
  }

  _scrolled() {
    this.code.style.transform = `translate(${-this.area.scrollLeft}px, ${-this.area.scrollTop}px)`;
    this.gutter.style.transform = `translateY(${-this.area.scrollTop}px)`;
    if (!this.choices.hidden) this._placeChoices();
  }

  _typed() {
    this._draw();
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this.onchange(this.text), CALM);
    const before = this.area.value[this.area.selectionStart - 1] ?? "";
    if (WORD.test(before)) this._suggest();
    else this._close();
  }

  async _suggest(asked = false) {
    const place = this.area.selectionStart;
    const turn = (this._turn = (this._turn ?? 0) + 1);
    let found;
    try { found = await this.complete(this.text, place); } catch { return; }
    if (turn !== this._turn || place !== this.area.selectionStart) return;
    const word = this.text.slice(found.from, found.to);
    this._items = found.items.filter((item) => item.text !== word).slice(0, 12);
    if (!this._items.length || (!asked && word.length < 1)) return this._close();
    this._from = found.from;
    this._to = found.to;
    clear(this.choices, this._items.map((item, k) => el("li", {
      id: `yaml-choice-${k}`, role: "option", onmousedown: (event) => { event.preventDefault(); this._take(k); },
    }, el("b", {}, item.text), el("span.chip", {}, item.kind), el("small", {}, item.doc))));
    this.choices.hidden = false;
    this._choose(0);
    this._placeChoices();
  }

  _placeChoices() {
    const before = this.text.slice(0, this._from);
    const row = before.split("\n").length - 1;
    const column = this._from - (before.lastIndexOf("\n") + 1);
    const height = this._lineHeight();
    this._width ??= this._measured();
    const left = 8 + column * this._width - this.area.scrollLeft;
    const top = 8 + (row + 1) * height - this.area.scrollTop;
    const room = this.area.clientHeight - top;
    const box = this.choices.offsetHeight;
    this.choices.style.left = `${Math.max(0, Math.min(left, this.area.clientWidth - this.choices.offsetWidth))}px`;
    this.choices.style.top = `${room > box || top < box ? top : top - height - box}px`;
  }

  _measured() {
    const probe = el("span", {}, "0".repeat(100));
    this.code.append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return width;
  }

  _choose(k) {
    this._chosen = (k + this._items.length) % this._items.length;
    [...this.choices.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === this._chosen)));
    this.area.setAttribute("aria-activedescendant", `yaml-choice-${this._chosen}`);
    this.choices.children[this._chosen].scrollIntoView({ block: "nearest" });
  }

  _take(k) {
    const item = this._items[k];
    const after = this.text.slice(this._to);
    const ending = item.kind === "key" && !after.startsWith(":") ? ": " : "";
    this.area.focus();
    this.area.setSelectionRange(this._from, this._to);
    document.execCommand("insertText", false, item.text + ending); // Can be undone, unlike a change of the value.
    this._close();
  }

  _close() {
    this._turn = (this._turn ?? 0) + 1;
    this.choices.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  _key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      this.onsave();
    } else if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      this._suggest(true);
    } else if (!this.choices.hidden) this._keyOfChoices(event);
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this._newLine();
    }
  }

  _keyOfChoices(event) {
    const actions = {
      ArrowDown: () => this._choose(this._chosen + 1), ArrowUp: () => this._choose(this._chosen - 1),
      Enter: () => this._take(this._chosen), Tab: () => this._take(this._chosen), Escape: () => this._close(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  _newLine() {
    const start = this.area.value.lastIndexOf("\n", this.area.selectionStart - 1) + 1;
    const line = this.area.value.slice(start, this.area.selectionStart);
    const indent = line.match(/^ */)[0].length + (/:\s*$/.test(line) ? 2 : 0);
    document.execCommand("insertText", false, `\n${" ".repeat(indent)}`);
  }
}
