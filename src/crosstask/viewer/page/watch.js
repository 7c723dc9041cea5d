// The screen of a video: play it, jump between its steps, compare two methods, try other steps, correct labels, annotate.

import { announce, el, formatTime, PERSON, VERDICTS } from "./elements.js";
import { Draft } from "./labels.js";
import { annotatePanel, correctPanel, savingBar, stepsPanel } from "./panels.js";
import { Player } from "./player.js";
import { localizeSteps, mediaAddress, readScores, readTranscript, readVideo, saveAnnotation, saveRelevance, undoChange } from "./server.js";
import { Timeline } from "./timeline.js";
import { Transcript } from "./transcript.js";

const MODES = { watch: "Watch", steps: "Try other steps", correct: "Correct", annotate: "Annotate" };
const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };

export async function watch(run, parameters) {
  const video = await readVideo(parameters.get("task") ?? "", parameters.get("video") ?? "");
  const screen = new VideoScreen(run, video, parameters);
  await screen.load();
  return screen;
}

class VideoScreen {
  constructor(run, video, parameters) {
    [this.run, this.video] = [run, video];
    const known = (id) => (run.sources.some((source) => source.id === id) ? id : null);
    this.source = known(parameters.get("method")) ?? run.sources[0]?.id ?? "";
    this.compare = known(parameters.get("compare")) ?? "";
    this.mode = parameters.get("mode") in MODES ? parameters.get("mode") : "watch";
    this.title = `${video.video} · ${video.title}`;
    this.scores = new Map();
    this.edited = null;
    this.draft = null;
    this.current = -1;
    this.timeline = new Timeline(video.n_segments, (second) => this.seek(second));
    this.player = new Player(video.n_segments, video.media ? mediaAddress(video.task, video.video) : null, (second) => this.timeChanged(second));
    this.#build();
    const at = Number.parseFloat(parameters.get("t") ?? "");
    if (Number.isFinite(at)) this.player.seek(at);
    this.playAtOnce = parameters.get("play") === "1";
  }

  #build() {
    const { video } = this;
    this.heading = el("h1", { tabIndex: -1 }, video.title, el("span", { class: "video-name" }, video.video));
    this.chapters = el("ol", { class: "chapters" });
    this.panelPlace = el("div", { class: "panel-place" });
    this.legend = el("ul", { class: "legend", "aria-label": "What the timeline shows" });
    this.chapterTitle = el("h2", { id: "chapter-title" });
    this.side = el("section", { class: "side-chapters", "aria-labelledby": "chapter-title" }, this.chapterTitle, this.chapters);
    this.methods = this.#methodChoices();
    this.tabs = this.#tabs();
    this.work = el("div", { role: "tabpanel", id: "work" },
      el("div", { class: "upper" }, this.player.element, this.panelPlace, this.side),
      el("section", { class: "lower", "aria-label": "Timeline of steps" }, this.methods, this.timeline.element, this.legend));
    this.element = el("div", { class: "watch" },
      el("div", { class: "watch-top" },
        el("a", { href: `#/?${new URLSearchParams({ task: video.task })}`, class: "back" }, "‹ All videos"),
        this.heading, this.#neighbours(), this.#relevance()),
      this.tabs,
      this.work);
  }

  #methodChoices() {
    const options = (chosen) => this.run.sources.map((source) => el("option", { value: source.id, selected: source.id === chosen }, source.label));
    this.sourceChoice = el("select", { id: "method", onchange: () => this.choose({ source: this.sourceChoice.value }) }, options(this.source));
    this.compareChoice = el("select", { id: "compare", onchange: () => this.choose({ compare: this.compareChoice.value }) },
      el("option", { value: "" }, "nothing"), options(this.compare));
    return el("div", { class: "filters methods" },
      el("label", { class: "field" }, el("span", {}, "Steps found by"), this.sourceChoice),
      el("label", { class: "field", id: "compare-field" }, el("span", {}, "Compare with"), this.compareChoice));
  }

  #tabs() {
    return el("div", { class: "tabs", role: "tablist", "aria-label": "Mode" }, Object.entries(MODES).map(([mode, words]) =>
      el("button", { type: "button", role: "tab", id: `tab-${mode}`, "aria-controls": "work", "data-mode": mode, onclick: () => this.setMode(mode), onkeydown: (event) => this.#tabKey(event) }, words)));
  }

  #tabKey(event) {
    const by = ARROWS[event.key];
    if (!by) return;
    const all = [...this.tabs.children];
    const next = all[(all.indexOf(event.currentTarget) + by + all.length) % all.length];
    next.focus();
    event.preventDefault();
  }

  #neighbours() {
    const link = (to, words) => {
      const target = to && `#/video?${new URLSearchParams({ task: to.task, video: to.video, ...this.#choices() })}`;
      return to ? el("a", { href: target, class: "button" }, words) : el("span", { class: "button off" }, words);
    };
    this.neighbours = el("nav", { class: "neighbours", "aria-label": "Videos of this task" }, link(this.video.previous, "‹ Previous"), link(this.video.next, "Next ›"));
    return this.neighbours;
  }

  #relevance() {
    const choice = (value, words) => el("button", { type: "button", id: `mark-${value}`, "aria-pressed": String(this.video.relevance === value), onclick: () => this.mark(value) }, words);
    this.marks = el("div", { class: "relevance", role: "group", "aria-label": "Does this video show the task?" },
      el("span", { "aria-hidden": "true", class: "wide-only" }, "Shows the task?"), choice("relevant", "✓ Relevant"), choice("irrelevant", "✕ Irrelevant"));
    return this.marks;
  }

  async mark(value) {
    const next = this.video.relevance === value ? null : value;
    try {
      await saveRelevance(this.video.task, this.video.video, next);
    } catch (error) {
      this.#showProblem(error);
      return;
    }
    this.video.relevance = next;
    for (const one of ["relevant", "irrelevant"]) this.marks.querySelector(`#mark-${one}`).setAttribute("aria-pressed", String(next === one));
    announce(next ? `Marked ${next}.` : "Mark removed.");
  }

  #showProblem(error) {
    announce(error.message);
    this.element.querySelector(".notice")?.remove();
    this.tabs.after(el("p", { class: "notice problem", role: "alert" }, error.message));
  }

  // ---- contents

  async load() {
    const [lines] = await Promise.all([readTranscript(this.video.task, this.video.video), this.#fetchScores()]);
    this.transcript = new Transcript(lines, (second) => this.seek(second));
    this.work.append(this.transcript.element);
    this.#enter();
  }

  async #fetchScores() {
    const wanted = [this.source, this.compare].filter((id) => id && !this.scores.has(id));
    await Promise.all(wanted.map(async (id) => this.scores.set(id, await readScores(this.video.task, this.video.video, id))));
  }

  #choices() {
    const chosen = {};
    if (this.source !== (this.run.sources[0]?.id ?? "")) chosen.method = this.source;
    if (this.compare) chosen.compare = this.compare;
    if (this.mode !== "watch") chosen.mode = this.mode;
    return chosen;
  }

  #updateAddress() {
    const query = new URLSearchParams({ task: this.video.task, video: this.video.video, ...this.#choices() });
    history.replaceState(null, "", `#/video?${query}`);
    this.neighbours.replaceWith(this.#neighbours());
  }

  async choose(changes) {
    Object.assign(this, changes);
    this.#updateAddress();
    try {
      await this.#fetchScores();
    } catch (error) {
      this.#showProblem(error);
    }
    if (this.mode === "correct" && !this.draft.unsaved && !this.video.annotation) this.#startDraft();
    if (this.mode === "steps") this.panel?.refresh?.();
    this.render();
  }

  setMode(mode) {
    if (mode === this.mode || !this.mayLeave()) return;
    this.mode = mode;
    this.#updateAddress();
    this.#enter();
  }

  #enter() {
    this.panel?.close?.();
    [this.panel, this.bar, this.draft, this.edited] = [null, null, null, null];
    for (const tab of this.tabs.children) {
      const chosen = tab.dataset.mode === this.mode;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.element.dataset.mode = this.mode;
    this.work.setAttribute("aria-labelledby", `tab-${this.mode}`);
    const { steps } = this.video;
    if (this.mode === "steps") {
      this.panel = stepsPanel(steps, this.run.parses_new_steps, (names) => this.localizeEdited(names));
      this.panelPlace.replaceChildren(this.panel.element);
    } else if (this.mode === "correct" || this.mode === "annotate") {
      this.bar = savingBar(() => this.draft, steps, () => this.save());
      this.#startDraft();
      if (this.mode === "annotate") {
        this.panel = annotatePanel(steps, () => this.draft, this.player, this.bar, () => this.render());
        this.panelPlace.replaceChildren(this.panel.element);
      } else {
        const from = this.video.annotation ? "Shown: what the method found, with the saved labels." : "Shown: what the method found.";
        this.panelPlace.replaceChildren(correctPanel(this.bar, from, this.video.changes, (change) => this.undoSaved(change)));
      }
    } else this.panelPlace.replaceChildren();
    this.render();
  }

  #startDraft() {
    const spans = (step) => step.intervals ?? [[step.start_s, step.end_s]];
    const found = (this.video.parses[this.source] ?? []).flatMap((step, k) => (step && step.shown ? spans(step).map(([start_s, end_s]) => ({ step: k + 1, start_s, end_s })) : []));
    const saved = this.video.annotation;
    this.draft = new Draft(this.mode === "correct" ? found : saved ?? [], this.video.n_segments, () => this.render());
    [this.draft.saved, this.draft.seen] = [Boolean(saved), this.video.last_change];
  }

  async localizeEdited(names) {
    const found = await localizeSteps(this.video.task, this.video.video, this.source, names);
    if (this.mode !== "steps") return found;
    this.edited = found;
    this.render();
    return found;
  }

  async save() {
    const draft = this.draft;
    const intervals = draft.sorted();
    try {
      const touched = draft.touched();
      const { file } = await saveAnnotation(this.video.task, this.video.video, intervals, touched.length ? touched : null, draft.seen);
      draft.saveReached(intervals, touched);
      this.video = await readVideo(this.video.task, this.video.video);
      if (this.draft === draft) this.#continueDraft(draft);
      if (this.mode === "correct") this.#showHistory();
      this.bar.state.dataset.saved = `Saved in ${file}`;
      announce(`Saved in ${file}`);
      this.element.querySelector(".notice")?.remove();
    } catch (error) {
      this.#showProblem(error);
    }
    this.render();
  }

  /** After saving: what the server has now, other windows' labels too, with the edits that were made while it was being saved. */
  #continueDraft(before) {
    this.#startDraft();
    this.draft.take(before, before.touched());
  }

  #showHistory() {
    const before = this.panelPlace.querySelector("#history");
    const panel = correctPanel(this.bar, "Shown: what the method found, with the saved labels.", this.video.changes, (change) => this.undoSaved(change));
    this.panelPlace.replaceChildren(panel);
    const now = panel.querySelector("#history");
    if (now && before?.open) now.open = true;
  }

  /** Undoes a saved change: its steps are again as they were before. */
  async undoSaved(change) {
    if (!this.mayLeave()) return;
    try {
      await undoChange(change);
      this.video = await readVideo(this.video.task, this.video.video);
      announce("Undone.");
    } catch (error) {
      this.#showProblem(error);
      return;
    }
    this.#enter();
  }

  /** The rows of the timeline in the current mode. */
  #rows() {
    if (this.mode === "steps" && this.edited) return this.#editedRows();
    const { video } = this;
    const blank = this.mode === "annotate";
    const edit = this.draft && {
      draft: this.draft,
      add: (step) => this.draft.add(step, this.player.time),
      choose: (span) => this.#chooseLabel(span),
      dragging: (second) => this.player.seek(second),
    };
    const of = (spans, step) => (blank ? [] : (spans ?? []).filter((span) => span.step === step));
    return video.steps.map((name, k) => ({
      name,
      found: this.draft ? null : video.parses[this.source]?.[k],
      other: this.draft || !this.compare ? null : video.parses[this.compare]?.[k],
      truth: of(video.truth, k + 1),
      windows: of(video.windows, k + 1),
      scores: blank ? null : this.scores.get(this.source)?.[k],
      otherScores: this.draft || !this.compare ? null : this.scores.get(this.compare)?.[k],
      labels: this.draft ? this.draft.of(k + 1) : [],
      current: blank && this.panel?.at() === k,
      edit,
    }));
  }

  /** Marks the label without rebuilding the rows, since it may be being dragged. */
  #chooseLabel(span) {
    this.draft.chosen = span;
    for (const one of this.timeline.body.querySelectorAll(".label")) one.classList.remove("chosen");
    this.#labelElement(span)?.classList.add("chosen");
    this.bar.refresh();
    this.player.seek(span.start_s);
  }

  #labelElement(span) {
    const nth = this.draft.of(span.step).indexOf(span);
    return this.timeline.body.querySelectorAll(`.label[data-step="${span.step}"]`)[nth];
  }

  #editedRows() {
    const spans = (all, name) => (all ?? []).filter((span) => this.video.steps[span.step - 1]?.toLowerCase() === name.toLowerCase());
    return this.edited.steps.map((found, k) => ({
      name: found.step,
      found,
      truth: spans(this.video.truth, found.step),
      windows: [],
      scores: this.edited.scores[k],
    }));
  }

  render() {
    const rows = this.#rows();
    const focused = this.#focusedLabel();
    this.timeline.show(rows);
    this.#restoreFocus(focused);
    this.#renderChapters(rows);
    this.#renderLegend(rows);
    this.bar?.refresh();
    if (this.mode === "annotate") this.panel.refresh();
    this.side.hidden = this.mode === "annotate";
    this.methods.hidden = this.mode === "annotate" || (this.mode === "steps" && this.run.parses_new_steps);
    this.methods.querySelector("#compare-field").hidden = this.mode !== "watch";
    this.current = -2;
    this.timeChanged(this.player.time);
  }

  /** A focused label keeps the focus when the rows are rebuilt. */
  #focusedLabel() {
    return document.activeElement?.classList.contains("label") ? this.draft?.chosen : null;
  }

  #restoreFocus(span) {
    if (!span || !this.draft) return;
    this.#labelElement(span)?.focus({ preventScroll: true });
  }

  #renderChapters(rows) {
    const moments = rows.map((row) => this.#moment(row));
    this.moments = moments;
    const two = Boolean(this.compare) && this.mode === "watch";
    this.chapterTitle.replaceChildren(...this.#chapterHeading(two));
    this.chapters.classList.toggle("two", two);
    this.chapters.replaceChildren(...rows.map((row, k) => this.#chapter(row, k, moments[k])));
  }

  #moment(row) {
    if (this.mode === "annotate" || this.mode === "correct") return row.labels.length ? Math.min(...row.labels.map((label) => label.start_s)) : null;
    return row.found ? row.found.moment_s : null;
  }

  #label(id) {
    return this.run.sources.find((source) => source.id === id)?.label ?? "";
  }

  #chapterHeading(two) {
    if (this.mode === "correct") return ["Labels"];
    if (!two) return ["Steps found"];
    return ["Steps found ", el("span", { class: "versus" }, `by ${this.#label(this.source)}, `, el("span", { class: "other-time" }, `◆ by ${this.#label(this.compare)}`))];
  }

  #chapter(row, k, moment) {
    const verdict = this.mode === "correct" ? null : row.found?.verdict;
    const verdictElement = verdict && verdict !== "unknown" ? el("span", { class: `verdict ${verdict}` }, `${VERDICTS[verdict].glyph} ${VERDICTS[verdict].words}`) : moment === null ? el("span", { class: "verdict" }, "no label") : null;
    const other = this.mode === "watch" && row.other && el("span", { class: "other-time" }, el("span", { "aria-hidden": "true" }, "◆ "), el("span", { class: "screen-reader-only" }, "second method "), formatTime(row.other.moment_s), row.other.verdict === "unknown" ? "" : ` ${VERDICTS[row.other.verdict].glyph}`);
    const person = this.mode !== "correct" && row.found?.by === "person";
    const absence = this.mode !== "correct" && row.found?.shown === false && el("span", { class: "predicted-absent" }, person ? " not shown" : " probably not shown");
    const byPerson = person && el("span", { class: "by-person-note" }, ` ${PERSON.glyph} ${PERSON.words}`);
    return el("li", {}, el("button", { type: "button", class: "chapter", disabled: moment === null, onclick: () => this.jump(k) },
      el("span", { class: "step-number" }, String(k + 1)), el("span", { class: "chapter-name" }, row.name, absence || null, byPerson || null), verdictElement ?? el("span"),
      el("span", { class: "chapter-time" }, moment === null ? "–" : formatTime(moment)), other || null));
  }

  #renderLegend(rows) {
    const any = (test) => rows.some(test);
    const entries = [];
    const entry = (kind, glyph, words) => entries.push(el("li", {}, el("span", { class: `swatch ${kind}`, "aria-hidden": "true" }, glyph), words));
    if (any((row) => row.scores)) entry("curve", "", this.compare && this.mode === "watch" ? `score: ${this.#label(this.source)}` : "score");
    for (const [verdict, words] of Object.entries(VERDICTS)) {
      if (any((row) => row.found?.verdict === verdict)) entry(`mark fixed ${verdict}`, words.glyph, words.key);
    }
    if (any((row) => row.found?.by === "person")) entry("mark fixed unknown by-person", PERSON.glyph, PERSON.key);
    if (any((row) => row.other)) entry("mark fixed other", "◆", `found by ${this.#label(this.compare)}`);
    if (any((row) => row.otherScores)) entry("curve dashed", "", `score: ${this.#label(this.compare)}`);
    if (any((row) => row.truth?.length)) entry("truth", "", "truth");
    if (any((row) => row.windows?.length)) entry("window", "", "narration window");
    if (this.draft) entry("own", "", "your label");
    this.legend.replaceChildren(...entries);
  }

  // ---- time

  timeChanged(second) {
    this.timeline?.setTime(second);
    this.transcript?.setTime(second);
    if (!this.moments) return;
    let now = -1;
    this.moments.forEach((moment, k) => {
      if (moment !== null && moment <= second + 0.01 && (now < 0 || moment >= this.moments[now])) now = k;
    });
    if (now === this.current) return;
    this.current = now;
    [...this.chapters.children].forEach((item, k) => {
      const button = item.firstChild;
      if (k === now) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const name = this.mode === "annotate" ? "" : this.timeline.rows[now]?.name;
    this.player.setCaption(name ? `${now + 1}. ${name}` : "");
  }

  seek(second) {
    this.player.seek(second);
  }

  jump(k) {
    const moment = this.moments[k];
    if (moment === null || moment === undefined) return;
    this.player.seek(moment);
    announce(`Step ${k + 1}, ${this.timeline.rows[k].name}, ${formatTime(moment)}`);
  }

  #stepBy(by) {
    const known = this.moments.map((moment, k) => [moment, k]).filter(([moment]) => moment !== null).sort((a, b) => a[0] - b[0]);
    const now = this.player.time;
    const next = by > 0 ? known.find(([moment]) => moment > now + 0.1) : known.filter(([moment]) => moment < now - 0.5).pop();
    if (next) this.jump(next[1]);
  }

  // ---- the interface used by main.js

  key(event) {
    if (event.altKey) return false;
    if (this.mode === "annotate" && this.panel.key(event.key)) return true;
    if (event.key === " ") this.player.toggle();
    else if (event.key in ARROWS) this.player.seek(this.player.time + ARROWS[event.key] * (event.shiftKey ? 1 : 5));
    else if (event.key === "ArrowUp") this.#stepBy(-1);
    else if (event.key === "ArrowDown") this.#stepBy(1);
    else if (event.key === "+" || event.key === "=") this.timeline.zoomBy(2);
    else if (event.key === "-") this.timeline.zoomBy(1 / 2);
    else if (/^[1-9]$/.test(event.key)) this.#digit(Number(event.key) - 1);
    else if (/^[np]$/i.test(event.key)) this.neighbours.querySelector(event.key.toLowerCase() === "n" ? "a:last-child" : "a:first-child")?.click();
    else return false;
    return true;
  }

  #digit(k) {
    if (this.mode === "annotate" && k < this.video.steps.length) this.panel.go(k);
    else this.jump(k);
  }

  opened() {
    this.timeline.draw();
    this.heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    if (this.mode === "steps") this.panel.refresh();
    if (this.playAtOnce) this.player.play();
  }

  hasUnsavedChanges() {
    return Boolean(this.draft?.unsaved);
  }

  mayLeave() {
    return !this.hasUnsavedChanges() || confirm("There are unsaved labels. Leave without saving?");
  }

  close() {
    this.panel?.close?.();
    this.player.close();
    this.timeline.close();
  }
}
