// Editable labels: a draft of intervals, and the element of one interval with its handles.

import { el, formatTime } from "./elements.js";

const SHORTEST_S = 0.1;
const MAX_UNDO_STEPS = 200;
const roundToTenth = (second) => Math.round(second * 10) / 10;

/** The intervals being edited; `changed()` is called after every edit. */
export class Draft {
  constructor(intervals, seconds, changed) {
    this.intervals = intervals.map((interval) => ({ ...interval }));
    this.seconds = seconds;
    this.changed = changed;
    this.unsaved = false;
    this.chosen = null;
    this.undoStack = [];
    this.initial = JSON.stringify(this.sorted());
    this.declared = new Set(); // steps about which the person said something without an interval
  }

  /** The steps whose labels differ from those at the beginning. */
  touched() {
    const of = (intervals, step) => JSON.stringify(intervals.filter((interval) => interval.step === step));
    const [before, now] = [JSON.parse(this.initial), this.sorted()];
    const steps = new Set([...before, ...now].map((interval) => interval.step));
    return [...new Set([...[...steps].filter((step) => of(before, step) !== of(now, step)), ...this.declared])].sort((a, b) => a - b);
  }

  /** These labels of these steps are saved: what differs from them later is a new edit. */
  saveReached(intervals, steps) {
    this.initial = JSON.stringify(intervals);
    for (const step of steps) this.declared.delete(step);
  }

  /** Takes the labels of some steps, and the choice, from another draft. */
  take(other, steps) {
    this.intervals = [...this.intervals.filter((one) => !steps.includes(one.step)), ...other.intervals.filter((one) => steps.includes(one.step))];
    this.unsaved = steps.length > 0;
    for (const step of steps) if (other.declared.has(step)) this.declared.add(step);
    const at = other.chosen ? other.of(other.chosen.step).indexOf(other.chosen) : -1;
    this.chosen = at < 0 ? null : this.of(other.chosen.step)[at] ?? null;
  }

  of(step) {
    return this.intervals.filter((interval) => interval.step === step);
  }

  #recordForUndo() {
    this.undoStack.push(JSON.stringify(this.intervals));
    if (this.undoStack.length > MAX_UNDO_STEPS) this.undoStack.shift();
    this.unsaved = true;
  }

  undo() {
    if (!this.undoStack.length) return;
    this.intervals = JSON.parse(this.undoStack.pop());
    this.chosen = null;
    this.unsaved = true;
    this.changed();
  }

  add(step, start, end = start + 2) {
    this.#recordForUndo();
    const interval = { step, start_s: 0, end_s: 1 };
    this.intervals.push(interval);
    this.chosen = interval;
    this.#place(interval, start, end);
    this.changed();
    return interval;
  }

  remove(interval) {
    this.#recordForUndo();
    this.intervals = this.intervals.filter((one) => one !== interval);
    if (this.chosen === interval) this.chosen = null;
    this.changed();
  }

  clear(step) {
    if (!this.of(step).length) return;
    this.#recordForUndo();
    this.intervals = this.intervals.filter((interval) => interval.step !== step);
    this.chosen = null;
    this.changed();
  }

  move(interval, start, end) {
    this.#recordForUndo();
    this.#place(interval, start, end);
    this.changed();
  }

  #place(interval, start, end) {
    const length = Math.max(SHORTEST_S, end - start);
    interval.start_s = roundToTenth(Math.min(Math.max(0, start), Math.max(0, this.seconds - length)));
    interval.end_s = roundToTenth(Math.min(this.seconds, Math.max(interval.start_s + SHORTEST_S, interval.start_s + length)));
  }

  sorted() {
    return [...this.intervals].sort((a, b) => a.step - b.step || a.start_s - b.start_s);
  }
}

/** One label on a track: dragging its middle moves it, dragging an end changes its length; so do the arrow keys. */
export function labelElement(interval, name, seconds, track, edit) {
  const words = () => `${name}, from ${formatTime(interval.start_s)} to ${formatTime(interval.end_s)}`;
  const element = el("button", {
    type: "button", class: edit.draft.chosen === interval ? "label chosen" : "label", "aria-label": `Label of ${words()}`, title: words(),
    "data-step": interval.step,
  }, el("span", { class: "grip left" }), el("span", { class: "grip right" }));
  place(element, interval, seconds);
  element.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    drag(event, element, interval, seconds, track, edit);
  });
  element.addEventListener("focus", () => {
    if (edit.draft.chosen !== interval) edit.choose(interval);
  });
  element.addEventListener("keydown", (event) => onLabelKey(event, interval, edit));
  return element;
}

function place(element, interval, seconds) {
  element.style.left = `${(100 * interval.start_s) / seconds}%`;
  element.style.width = `${(100 * (interval.end_s - interval.start_s)) / seconds}%`;
}

function drag(event, element, interval, seconds, track, edit) {
  if (event.button !== 0) return;
  const part = event.target.classList.contains("left") ? "start" : event.target.classList.contains("right") ? "end" : "both";
  const [from, width] = [event.clientX, track.getBoundingClientRect().width];
  const [start, end] = [interval.start_s, interval.end_s];
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
      edit.draft.chosen = interval;
      edit.draft.move(interval, ...moved);
    } else edit.choose(interval);
  }, { once: true });
}

function dragged(part, start, end, by, seconds) {
  if (part === "start") return [Math.min(Math.max(0, start + by), end - SHORTEST_S), end];
  if (part === "end") return [start, Math.max(Math.min(seconds, end + by), start + SHORTEST_S)];
  const shift = Math.min(Math.max(by, -start), seconds - end);
  return [start + shift, end + shift];
}

function onLabelKey(event, interval, edit) {
  const by = { ArrowLeft: -0.5, ArrowRight: 0.5 }[event.key];
  if (by !== undefined) {
    const part = event.shiftKey ? "end" : event.altKey ? "start" : "both";
    edit.draft.move(interval, ...dragged(part, interval.start_s, interval.end_s, by, edit.draft.seconds));
  } else if (event.key === "Delete" || event.key === "Backspace") edit.draft.remove(interval);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
