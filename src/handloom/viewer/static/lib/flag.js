// Flag an episode with a note; the note is stored beside the dataset.
import { post } from "./api.js";
import { el, toast } from "./dom.js";

export function flagButton(facts, site) {
  let flag = facts.flag ?? null;
  const button = el("button", { type: "button", disabled: !site.edit, title: site.edit ? "Flag this episode with a note (F)" : "Start handloom view with --edit to flag episodes" });
  const note = el("textarea", { rows: 3, maxLength: 2000, "aria-label": "Note" });
  const dialog = el("dialog", { "aria-label": "Flag this episode" },
    el("form", { method: "dialog" }, el("h2", {}, "Flag this episode"), el("label", {}, "Reason for the flag", note),
      el("div.row", { class: "ends" }, el("button", { value: "cancel" }, "Cancel"), el("button", { value: "remove", class: "remove" }, "Remove the flag"), el("button.primary", { value: "keep" }, "Flag it"))));
  const show = () => {
    button.textContent = flag ? `⚑ ${flag.note || "flagged"}` : "Flag with a note";
    button.setAttribute("aria-pressed", String(Boolean(flag)));
    dialog.querySelector(".remove").hidden = !flag;
  };
  button.addEventListener("click", () => { note.value = flag?.note ?? ""; dialog.showModal(); note.focus(); });
  dialog.addEventListener("close", async () => {
    if (!["keep", "remove"].includes(dialog.returnValue)) return;
    const kept = dialog.returnValue === "keep";
    dialog.returnValue = "";
    try {
      flag = (await post(`/api/episodes/${facts.source}/${facts.index}/flag`, { flagged: kept, note: note.value })).flag;
      toast(flag ? "Flagged" : "Flag removed");
    } catch (error) { toast(error.message, "bad"); }
    show();
  });
  show();
  return el("span", {}, button, dialog);
}
