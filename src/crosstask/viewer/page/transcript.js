// What is said in a video: follows the player, can be searched, and a click plays from there.

import { counted, el, formatTime } from "./elements.js";

export class Transcript {
  constructor(lines, seek) {
    this.lines = [...lines].sort((a, b) => a.start_s - b.start_s);
    this.current = -1;
    this.search = el("input", { type: "search", id: "transcript-search", oninput: () => this.#filter() });
    this.count = el("span", { class: "hint", id: "transcript-count", "aria-live": "polite" });
    this.list = el("ol", { class: "transcript-lines" }, this.lines.map((line) =>
      el("li", {}, el("button", { type: "button", class: "transcript-line", onclick: () => seek(line.start_s) },
        el("span", { class: "chapter-time" }, formatTime(line.start_s)), el("span", { class: "said" }, line.text)))));
    this.element = el("section", { class: "lower transcript", "aria-labelledby": "transcript-title", hidden: !this.lines.length },
      el("h2", { id: "transcript-title" }, "Transcript"),
      el("div", { class: "filters" }, el("label", { class: "field" }, el("span", {}, "Search what is said"), this.search), this.count),
      this.list);
    this.#filter();
  }

  /** Shows the lines that contain every word of the search. */
  #filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    this.lines.forEach((line, i) => {
      const text = line.text.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      this.list.children[i].hidden = !fits;
      shown += fits ? 1 : 0;
    });
    this.count.textContent = words.length ? `${shown} of ${counted(this.lines.length, "line")}` : counted(this.lines.length, "line");
  }

  /** Marks the line that is being said, or was said last, and keeps it in sight. */
  setTime(second) {
    let [low, high] = [0, this.lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lines[middle].start_s <= second + 0.01) low = middle + 1;
      else high = middle;
    }
    const now = low - 1;
    if (now === this.current) return;
    this.list.children[this.current]?.firstChild.removeAttribute("aria-current");
    this.current = now;
    const item = this.list.children[now];
    if (!item) return;
    item.firstChild.setAttribute("aria-current", "true");
    if (!item.hidden) this.list.scrollTop = item.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
  }
}
