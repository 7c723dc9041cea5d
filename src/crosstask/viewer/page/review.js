// The screen of the review: one found step after another, answered by keyboard; what the answers say; and learning from them.

import { announce, counted, el, formatTime } from "./elements.js";
import { learnPanel } from "./learn.js";
import { Player } from "./player.js";
import { mediaAddress, readReview, saveLabel, undoChange } from "./server.js";

const LEAD_S = 3; // playback begins so many seconds before the found moment
const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };

export async function review(run) {
  const screen = new ReviewScreen(run, await readReview());
  screen.show();
  return screen;
}

class ReviewScreen {
  constructor(run, queue) {
    [this.run, this.queue, this.title] = [run, queue, "Review"];
    this.skipped = new Set();
    this.answers = []; // changes of this visit, the last one last
    this.start = null; // of an interval that is being marked
    this.busy = false;
    this.player = null;
    this.#build();
  }

  #build() {
    this.heading = el("h1", { tabIndex: -1, id: "review-title" }, "Review");
    this.playerPlace = el("div", { class: "review-player" });
    this.step = el("p", { class: "one-step", id: "review-step", "aria-live": "polite" });
    this.hint = el("p", { class: "hint", id: "review-hint", role: "status" });
    this.accuracy = el("p", { id: "review-accuracy" });
    this.counts = el("p", { id: "review-counts" });
    this.little = el("p", { class: "message", id: "review-little" });
    const button = (id, words, key, action) => el("button", { type: "button", id, onclick: action }, words, el("kbd", {}, key));
    this.actions = el("div", { class: "actions large" },
      button("answer-right", "Right", "Enter", () => this.#confirm()),
      button("answer-moment", "It is here", "M", () => this.#moment()),
      button("answer-interval", "Starts / ends here", "I", () => this.#interval()),
      button("answer-absent", "Not shown", "X", () => this.answer({ kind: "not shown" })),
      button("answer-undo", "Undo", "U", () => this.undo()),
      button("answer-skip", "Later", "N", () => this.skip()));
    this.learn = learnPanel(this.run, () => this.#reload());
    this.element = el("div", { class: "review" }, this.heading,
      el("p", { class: "about" }, "Say whether each found step is right, by a button or its key. It plays from 3 seconds before the moment found. Every fifth step is drawn at random; the accuracy is estimated from those alone."),
      el("div", { class: "upper" }, this.playerPlace,
        el("section", { class: "panel", "aria-label": "The step to check" }, this.step, this.hint, this.actions, this.counts, this.accuracy, this.little)),
      this.learn.element);
  }

  get item() {
    return this.queue.items.find((item) => !this.skipped.has(nameOf(item))) ?? null;
  }

  show() {
    const { item } = this;
    this.start = null;
    this.#showNumbers();
    this.player?.close();
    this.player = null;
    for (const one of this.actions.querySelectorAll("button:not(#answer-undo)")) one.disabled = !item;
    if (!item) {
      this.playerPlace.replaceChildren();
      this.step.replaceChildren(el("strong", {}, this.queue.left ? "Nothing else is queued." : "Every step is labelled."));
      this.hint.textContent = "";
      return;
    }
    this.player = new Player(item.n_segments, item.media ? mediaAddress(item.task, item.video) : null, () => {});
    this.player.setCaption(item.step);
    this.playerPlace.replaceChildren(this.player.element);
    const where = item.shown ? `found at ${formatTime(item.moment_s)}` : "found: not shown in this video";
    this.step.replaceChildren(
      el("span", { class: "of" }, `${item.title} · ${item.video} · step ${item.number}`, item.drawn === "random" ? el("span", { class: "badge" }, "drawn at random") : null),
      el("strong", {}, item.step), el("span", { class: "of", id: "review-found" }, where));
    this.hint.textContent = "";
    this.replay();
  }

  #showNumbers() {
    const { queue } = this;
    this.counts.textContent = `${counted(queue.n_found, "step")} found, ${queue.n_corrected} corrected; ${queue.left} not checked`;
    this.accuracy.textContent = queue.accuracy_words[0].toUpperCase() + queue.accuracy_words.slice(1);
    this.little.textContent = queue.changes_little && queue.left ? "Further corrections change little: hardly any of the next answers is expected to be wrong." : "";
    this.learn.setCount(queue.n_corrected);
  }

  replay() {
    if (!this.item) return;
    this.player.seek(Math.max(0, this.item.moment_s - LEAD_S));
    this.player.play();
  }

  async answer(said) {
    const { item } = this;
    if (!item || this.busy) return;
    await this.#exclusively(async () => {
      const { change } = await saveLabel({ task: item.task, video: item.video, step: item.number, drawn: item.drawn, seen: this.queue.last_change, ...said });
      this.answers.push(change);
      announce(`${item.step}: saved.`);
    });
  }

  async undo() {
    if (this.busy) return;
    const change = this.answers.at(-1);
    if (change === undefined) {
      this.hint.textContent = "Nothing to undo here; the history of a video is under “Correct”.";
      return;
    }
    await this.#exclusively(async () => {
      await undoChange(change);
      this.answers.pop();
      announce("Undone.");
    });
  }

  /** Runs a change, then reads the queue again, also after an error: another window may have answered. */
  async #exclusively(change) {
    this.busy = true;
    let problem = "";
    try {
      await change();
    } catch (error) {
      problem = error.message;
    }
    try {
      await this.#reload();
    } catch (error) {
      problem ||= error.message;
    }
    this.busy = false;
    if (problem) {
      this.hint.textContent = problem;
      announce(problem);
    }
  }

  async #reload() {
    this.queue = await readReview();
    this.show();
  }

  skip() {
    if (!this.item || this.busy) return;
    this.skipped.add(nameOf(this.item));
    this.show();
  }

  /** Says what was on the screen, so that another answer, of a run made since, is not confirmed. */
  #confirm() {
    const { item } = this;
    if (item) this.answer({ kind: "right", shown: item.shown, moment_s: item.shown ? item.moment_s : null });
  }

  #moment() {
    if (this.item) this.answer({ kind: "moment", moment_s: round(this.player.time) });
  }

  #interval() {
    if (!this.item) return;
    const now = round(this.player.time);
    if (this.start === null) {
      this.start = now;
      this.hint.textContent = `Starts at ${formatTime(now)}; press I again where it ends.`;
      announce(this.hint.textContent);
      return;
    }
    const [start_s, end_s] = this.start <= now ? [this.start, now] : [now, this.start];
    this.answer({ kind: "interval", start_s, end_s: Math.max(end_s, round(start_s + 0.5)) });
  }

  // ---- the interface used by main.js

  key(event) {
    if (event.altKey || event.repeat) return event.key in ARROWS ? this.#seek(event) : false;
    const focused = event.target.closest("button, a, summary")?.matches(":focus-visible");
    if (event.key === "Enter" && focused) return false;
    const action = {
      Enter: () => this.#confirm(), x: () => this.answer({ kind: "not shown" }), m: () => this.#moment(), " ": () => this.#moment(),
      i: () => this.#interval(), u: () => this.undo(), n: () => this.skip(), p: () => this.player?.toggle(), r: () => this.replay(),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) action();
    else return this.#seek(event);
    return true;
  }

  #seek(event) {
    if (!(event.key in ARROWS) || !this.player) return false;
    this.player.seek(this.player.time + ARROWS[event.key] * (event.shiftKey ? 1 : 5));
    return true;
  }

  opened() {
    this.heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  close() {
    this.learn.close();
    this.player?.close();
  }
}

const nameOf = (item) => JSON.stringify([item.task, item.video, item.number]);
const round = (second) => Math.round(second * 100) / 100;
