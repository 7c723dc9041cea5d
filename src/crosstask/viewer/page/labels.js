// Labels a person may change: a draft of spans, and the element of one span with its handles.

import { clock, el } from "./elements.js";

const SHORTEST_S = 0.1;
const tenth = (second) => Math.round(second * 10) / 10;

/** The spans being worked on; `changed()` after every change by a person. */
export class Draft {
  constructor(spans, seconds, changed) {
    this.spans = spans.map((span) => ({ ...span }));
    this.seconds = seconds;
    this.changed = changed;
    this.unsaved = false;
    this.chosen = null;
    this.past = [];
  }

  of(step) {
    return this.spans.filter((span) => span.step === step);
  }

  #remember() {
    this.past.push(JSON.stringify(this.spans));
    if (this.past.length > 200) this.past.shift();
    this.unsaved = true;
  }

  undo() {
    if (!this.past.length) return;
    this.spans = JSON.parse(this.past.pop());
    this.chosen = null;
    this.unsaved = true;
    this.changed();
  }

  add(step, start, end = start + 2) {
    this.#remember();
    const span = { step, start_s: 0, end_s: 1 };
    this.spans.push(span);
    this.chosen = span;
    this.#place(span, start, end);
    this.changed();
    return span;
  }

  remove(span) {
    this.#remember();
    this.spans = this.spans.filter((one) => one !== span);
    if (this.chosen === span) this.chosen = null;
    this.changed();
  }

  clear(step) {
    if (!this.of(step).length) return;
    this.#remember();
    this.spans = this.spans.filter((span) => span.step !== step);
    this.chosen = null;
    this.changed();
  }

  move(span, start, end) {
    this.#remember();
    this.#place(span, start, end);
    this.changed();
  }

  #place(span, start, end) {
    const length = Math.max(SHORTEST_S, end - start);
    span.start_s = tenth(Math.min(Math.max(0, start), Math.max(0, this.seconds - length)));
    span.end_s = tenth(Math.min(this.seconds, Math.max(span.start_s + SHORTEST_S, span.start_s + length)));
  }

  sorted() {
    return [...this.spans].sort((a, b) => a.step - b.step || a.start_s - b.start_s);
  }
}

/** One label on a track: drag its middle to move it, its ends to stretch it; arrows do the same. */
export function spanElement(span, name, seconds, track, edit) {
  const words = () => `${name}, from ${clock(span.start_s)} to ${clock(span.end_s)}`;
  const element = el("button", {
    type: "button", class: edit.draft.chosen === span ? "label chosen" : "label", "aria-label": `Label of ${words()}`, title: words(),
    "data-step": span.step,
  }, el("span", { class: "grip left" }), el("span", { class: "grip right" }));
  place(element, span, seconds);
  element.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    drag(event, element, span, seconds, track, edit);
  });
  element.addEventListener("focus", () => {
    if (edit.draft.chosen !== span) edit.choose(span);
  });
  element.addEventListener("keydown", (event) => keyed(event, span, edit));
  return element;
}

function place(element, span, seconds) {
  element.style.left = `${(100 * span.start_s) / seconds}%`;
  element.style.width = `${(100 * (span.end_s - span.start_s)) / seconds}%`;
}

function drag(event, element, span, seconds, track, edit) {
  if (event.button !== 0) return;
  const part = event.target.classList.contains("left") ? "start" : event.target.classList.contains("right") ? "end" : "both";
  const [from, width] = [event.clientX, track.getBoundingClientRect().width];
  const [start, end] = [span.start_s, span.end_s];
  let moved = null;
  element.setPointerCapture(event.pointerId);
  const moving = (now) => {
    const by = ((now.clientX - from) / width) * seconds;
    if (Math.abs(now.clientX - from) < 2 && !moved) return;
    moved = dragged(part, start, end, by, seconds);
    place(element, { start_s: moved[0], end_s: moved[1] }, seconds);
    edit.dragging(part === "end" ? moved[1] : moved[0]);
  };
  element.addEventListener("pointermove", moving);
  element.addEventListener("lostpointercapture", () => {
    element.removeEventListener("pointermove", moving);
    if (moved) {
      edit.draft.chosen = span;
      edit.draft.move(span, ...moved);
    } else edit.choose(span);
  }, { once: true });
}

function dragged(part, start, end, by, seconds) {
  if (part === "start") return [Math.min(Math.max(0, start + by), end - SHORTEST_S), end];
  if (part === "end") return [start, Math.max(Math.min(seconds, end + by), start + SHORTEST_S)];
  const shift = Math.min(Math.max(by, -start), seconds - end);
  return [start + shift, end + shift];
}

function keyed(event, span, edit) {
  const by = { ArrowLeft: -0.5, ArrowRight: 0.5 }[event.key];
  if (by !== undefined) {
    const part = event.shiftKey ? "end" : event.altKey ? "start" : "both";
    edit.draft.move(span, ...dragged(part, span.start_s, span.end_s, by, edit.draft.seconds));
  } else if (event.key === "Delete" || event.key === "Backspace") edit.draft.remove(span);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
