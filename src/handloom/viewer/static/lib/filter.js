// Which episodes are shown and in which order; stored in the address, so that a link shows the same view.

// Key of a row > name of its select.
export const FIELDS = [["shelf", "Dataset"], ["task", "Task"], ["robot", "Robot"], ["outcome", "Outcome"], ["reason", "Failure reason"], ["stage", "Failed at"], ["seed", "Seed"], ["flagged", "Flag"]];
const KEYS = ["q", ...FIELDS.map(([key]) => key), "min", "max", "sort", "down"];
const DERIVED = { outcome: (row) => (row.success === null || row.success === undefined ? null : row.success ? (row.recovery ? "recovered" : "success") : "failure"), flagged: (row) => (row.flag ? "flagged" : "not flagged") };
const value = (row, key) => (DERIVED[key] ? DERIVED[key](row) : row[key]);

export class Filter {
  constructor(query) {
    this.values = Object.fromEntries(KEYS.map((key) => [key, query.get(key) ?? ""]));
  }

  set(changes) { Object.assign(this.values, changes); }

  reset() { for (const key of KEYS) if (key !== "sort" && key !== "down") this.values[key] = ""; }

  get active() { return KEYS.some((key) => key !== "sort" && key !== "down" && this.values[key] !== ""); }

  text() {
    return new URLSearchParams(Object.entries(this.values).filter(([, entry]) => entry !== "")).toString();
  }

  range() {
    const { min, max } = this.values;
    return min === "" && max === "" ? null : [min === "" ? -Infinity : Number(min), max === "" ? Infinity : Number(max)];
  }

  choices(rows, key) {
    const counts = new Map();
    for (const row of rows) {
      const found = value(row, key);
      if (found !== null && found !== undefined && found !== "") counts.set(String(found), (counts.get(String(found)) ?? 0) + 1);
    }
    const sorted = [...counts].sort((a, b) => (key === "seed" ? Number(a[0]) - Number(b[0]) : a[0].localeCompare(b[0])));
    return sorted.slice(0, 500).map(([entry, n]) => [entry, `${entry} (${n})`]);
  }

  apply(rows, { without = [] } = {}) {
    const v = this.values, range = without.includes("seconds") ? null : this.range();
    const words = v.q.toLowerCase().split(/\s+/).filter(Boolean);
    const tests = FIELDS.filter(([key]) => v[key] !== "").map(([key]) => (row) => String(value(row, key) ?? "") === v[key]);
    if (range) tests.push((row) => row.seconds !== null && row.seconds >= range[0] - 1e-9 && row.seconds <= range[1] + 1e-9);
    if (words.length) tests.push((row) => words.every((word) => found(row, word)));
    const kept = tests.length ? rows.filter((row) => tests.every((test) => test(row))) : rows.slice();
    const key = v.sort || "place", turn = v.down ? -1 : 1;
    if (key === "place" && turn === 1) return kept;
    const of = key === "flag" ? (row) => (row.flag ? 0 : 1) : (row) => row[key];
    return kept.sort((a, b) => turn * compared(of(a), of(b)) || a.place - b.place);
  }
}

function found(row, word) {
  if (/^#\d+$/.test(word)) return Number(word.slice(1)) === row.index;
  row.text ??= [row.words, row.reason, row.stage, row.task, row.robot, row.shelf, row.flag?.note, `seed ${row.seed}`, `attempt ${row.attempt}`].filter(Boolean).join(" ").toLowerCase();
  return row.text.includes(word);
}

function compared(a, b) {
  const none = (entry) => entry === null || entry === undefined;
  if (none(a) || none(b)) return none(a) - none(b);
  return typeof a === "string" ? a.localeCompare(String(b)) : Number(a) - Number(b);
}
