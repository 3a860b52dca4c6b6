// A grid of any number of cards, of which only those in sight exist; the page itself scrolls.
import { clear, el } from "./dom.js";

const FAST = 1.2; // Images of cards that scroll by faster are not requested [px/ms].
const SPARE = 2; // Number of rows beyond the edges that are kept ready.

export class VirtualGrid {
  // make(): an empty card { node, link, fill(item, place), load() }; height: of a card with its gap [px]; least: minimum card width [px].
  constructor(host, { make, height, least, gap = 10, label }) {
    Object.assign(this, { host, make, height, least, gap });
    this.items = [];
    this.pool = [];
    this.used = new Map(); // Place > card.
    this.list = el("ul.cards", { role: "list", "aria-label": label });
    clear(host, this.list);
    this.focused = 0;
    this._draw = () => { this._asked = false; this.draw(); };
    this.ask = () => { if (!this._asked) { this._asked = true; requestAnimationFrame(this._draw); } };
    this._scrolled = () => {
      const now = performance.now(), y = window.scrollY;
      this.fast = Math.abs(y - (this._y ?? y)) > FAST * Math.max(1, now - (this._at ?? 0));
      [this._y, this._at] = [y, now];
      this.host.classList.add("scrolling");
      clearTimeout(this._rest);
      this._rest = setTimeout(() => { this.fast = false; this.host.classList.remove("scrolling"); this.load(); }, 140);
      this.ask();
    };
    window.addEventListener("scroll", this._scrolled, { passive: true });
    this.observer = new ResizeObserver(() => { this.columns = 0; this.ask(); });
    this.observer.observe(host);
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusin", (event) => {
      const card = event.target.closest("[data-place]");
      if (card) this.focused = Number(card.dataset.place);
    });
  }

  set(items) {
    this.items = items;
    this.focused = Math.min(this.focused, Math.max(0, items.length - 1));
    for (const card of this.used.values()) this.drop(card);
    this.used.clear();
    this.columns = 0;
    this.draw();
  }

  drop(card) {
    card.node.remove();
    this.pool.push(card);
  }

  measure() {
    const width = this.host.clientWidth;
    this.columns = Math.max(1, Math.floor((width + this.gap) / (this.least + this.gap)));
    this.wide = (width - this.gap * (this.columns - 1)) / this.columns;
    this.rows = Math.ceil(this.items.length / this.columns);
    this.list.style.height = `${Math.max(0, this.rows * this.height - this.gap)}px`;
  }

  draw() {
    if (!this.host.isConnected) return;
    if (!this.columns) { this.measure(); this.fresh = true; }
    const top = -this.host.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / this.height) - SPARE);
    const last = Math.min(this.rows, Math.ceil((top + window.innerHeight) / this.height) + SPARE);
    const from = first * this.columns, to = Math.min(this.items.length, last * this.columns);
    for (const [place, card] of this.used) if (place < from || place >= to) { this.drop(card); this.used.delete(place); }
    for (let place = from; place < to; place += 1) {
      let card = this.used.get(place);
      if (!card) {
        card = this.pool.pop() ?? this.make();
        this.used.set(place, card);
        card.node.dataset.place = place;
        card.node.setAttribute("aria-setsize", this.items.length);
        card.node.setAttribute("aria-posinset", place + 1);
        card.fill(this.items[place], place);
        this.list.append(card.node);
      } else if (!this.fresh) continue;
      const style = card.node.style;
      style.width = `${this.wide}px`;
      style.transform = `translate(${(place % this.columns) * (this.wide + this.gap)}px, ${Math.floor(place / this.columns) * this.height}px)`;
    }
    this.fresh = false;
    if (!this.fast) this.load();
    for (const [place, card] of this.used) card.link.tabIndex = place === this.focused ? 0 : -1;
    if (!this.used.has(this.focused) && this.used.size) this.used.get(Math.min(...this.used.keys())).link.tabIndex = 0;
  }

  load() { for (const card of this.used.values()) card.load(); }

  key(event) {
    if (event.target.closest("input, button")) return;
    const page = this.columns * Math.max(1, Math.floor(window.innerHeight / this.height) - 1);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (!step || !this.items.length) return;
    event.preventDefault();
    this.focus(Math.max(0, Math.min(this.items.length - 1, this.focused + step)));
  }

  focus(place) {
    this.focused = place;
    const top = this.host.getBoundingClientRect().top + Math.floor(place / this.columns) * this.height;
    const head = document.querySelector("header.top").offsetHeight + 8;
    if (top < head) window.scrollBy(0, top - head);
    else if (top + this.height > window.innerHeight) window.scrollBy(0, top + this.height - window.innerHeight);
    this.draw();
    this.used.get(place)?.link.focus({ preventScroll: true });
  }

  destroy() {
    window.removeEventListener("scroll", this._scrolled);
    this.observer.disconnect();
  }
}
