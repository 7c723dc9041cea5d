// The timeline: one row per step. Scores, truth and windows are drawn on a canvas; marks and labels are elements above it.

import { el, formatTime, PERSON, VERDICTS } from "./elements.js";
import { labelElement } from "./labels.js";

const COLOURS = { curve: "#1f6fb2", fill: "rgba(31,111,178,.10)", other: "#8a3ea8", truth: "#f7e08a", truthLine: "#b8930b", window: "#8b939e" };
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600];

const MAX_ZOOM = 16;

export class Timeline {
  /** `onSeek(second)` is called when the user points at a moment. */
  constructor(seconds, onSeek) {
    this.seconds = seconds;
    this.onSeek = onSeek;
    this.rows = [];
    this.head = el("div", { class: "playhead" });
    this.body = el("div", { class: "rows" });
    this.ruler = this.#ruler();
    this.zoom = 1;
    this.sheet = el("div", { class: "timeline", role: "group", "aria-label": "Timeline" },
      el("div", { class: "row ruler-row" }, el("div", { class: "row-label", "aria-hidden": "true" }, "Step"), this.ruler),
      this.body, el("div", { class: "over", "aria-hidden": "true" }, this.head));
    this.scroller = el("div", { class: "timeline-scroll" }, this.sheet);
    this.scroller.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.element = el("div", {}, this.#zoomButtons(), this.scroller);
    this.resizeObserver = new ResizeObserver(() => this.draw());
    this.resizeObserver.observe(this.body);
    this.resizeObserver.observe(this.ruler);
  }

  close() {
    this.resizeObserver.disconnect();
  }

  #zoomButtons() {
    const button = (id, words, sign, factor) => el("button", { type: "button", id, class: "quiet", title: words, "aria-label": words, onclick: () => this.zoomBy(factor) }, sign);
    [this.zoomIn, this.zoomOut] = [button("zoom-in", "Zoom in", "+", 2), button("zoom-out", "Zoom out", "−", 1 / 2)];
    this.zoomOut.disabled = true;
    this.zoomText = el("span", { id: "zoom", role: "status" }, "whole video");
    return el("div", { class: "zoom" }, this.zoomOut, this.zoomIn, this.zoomText);
  }

  /** Zooms around a second (that of the playhead by default), which keeps its position on the screen. */
  zoomBy(factor, around = this.time ?? 0) {
    const zoom = Math.min(MAX_ZOOM, Math.max(1, this.zoom * factor));
    const box = this.scroller.getBoundingClientRect();
    const place = () => this.ruler.getBoundingClientRect().left + (around / this.seconds) * this.ruler.clientWidth;
    const before = Math.min(Math.max(place(), box.left), box.right);
    this.zoom = zoom;
    this.sheet.style.setProperty("--zoom", String(zoom));
    this.scroller.scrollLeft += place() - before;
    [this.zoomIn.disabled, this.zoomOut.disabled] = [zoom >= MAX_ZOOM, zoom <= 1];
    this.zoomText.textContent = zoom === 1 ? "whole video" : `${zoom} times`;
    this.draw();
  }

  /** Ctrl and the wheel, or a pinch gesture; the wheel alone scrolls the page. */
  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = this.ruler.getBoundingClientRect();
    this.zoomBy(event.deltaY < 0 ? 2 : 1 / 2, Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.seconds);
  }

  #ruler() {
    const ruler = el("div", {
      class: "ruler", id: "ruler", role: "slider", tabIndex: 0, "aria-label": "Moment in the video",
      "aria-valuemin": "0", "aria-valuemax": String(this.seconds), "aria-valuenow": "0",
    });
    onPointer(ruler, (second) => this.onSeek(second), () => this.seconds);
    return ruler;
  }

  /** Rows: {name, found, other, truth, windows, scores, otherScores, labels, current, edit}. */
  show(rows) {
    this.rows = rows;
    this.body.replaceChildren(...rows.map((row, k) => this.#row(row, k)));
    this.draw();
  }

  #row(row, k) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const track = el("div", { class: "track", "data-step": k + 1 }, canvas);
    onPointer(track, (second) => this.onSeek(second), () => this.seconds);
    if (row.other) track.append(this.#mark(row.other, "other", `${row.name}, second method`));
    if (row.found) track.append(this.#mark(row.found, row.found.verdict, `${row.name}: ${row.found.by === "person" ? PERSON.words : VERDICTS[row.found.verdict].words}`));
    for (const label of row.labels ?? []) track.append(labelElement(label, row.name, this.seconds, track, row.edit));
    const add = row.edit && el("button", { type: "button", class: "add", title: "Add a label at the playhead", "aria-label": `Add a label for ${row.name} at the playhead`, onclick: () => row.edit.add(k + 1) }, "+");
    return el("div", { class: row.current ? "row current" : "row", role: "group", "aria-label": `Step ${k + 1}, ${row.name}` },
      el("div", { class: "row-label" }, el("span", { class: "step-number" }, String(k + 1)), el("span", { class: "step-name", title: row.name }, row.name), add || null), track);
  }

  #mark(found, kind, words) {
    const person = kind !== "other" && found.by === "person";
    const glyph = kind === "other" ? "◆" : person ? PERSON.glyph : VERDICTS[kind].glyph;
    const mark = el("span", { class: `mark ${kind}${person ? " by-person" : ""}`, title: `${words}, ${formatTime(found.moment_s)}`, "aria-hidden": "true" }, glyph);
    mark.style.left = this.#share(found.moment_s + 0.5);
    mark.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      this.onSeek(found.moment_s);
    });
    return mark;
  }

  #share(second) {
    return `${(100 * Math.min(Math.max(second, 0), this.seconds)) / this.seconds}%`;
  }

  setTime(second) {
    this.time = second;
    this.head.style.left = this.#share(second);
    this.ruler.setAttribute("aria-valuenow", String(Math.floor(second)));
    this.ruler.setAttribute("aria-valuetext", formatTime(second));
  }

  draw() {
    this.#drawRuler();
    [...this.body.querySelectorAll("canvas")].forEach((canvas, k) => this.rows[k] && drawTrack(canvas, this.rows[k], this.seconds));
  }

  #drawRuler() {
    const step = TICKS.find((tick) => (this.ruler.clientWidth * tick) / this.seconds >= 58) ?? 7200;
    const ticks = [];
    const margin = (38 / Math.max(1, this.ruler.clientWidth)) * this.seconds; // the last time must fit inside
    for (let second = 0; second < this.seconds - margin; second += step) {
      const tick = el("span", { class: "tick", "aria-hidden": "true" }, formatTime(second));
      tick.style.left = this.#share(second);
      ticks.push(tick);
    }
    this.ruler.replaceChildren(...ticks);
  }
}

/** Calls `callback` with the second under the pointer while it is pressed. */
function onPointer(element, callback, seconds) {
  const report = (event) => {
    const box = element.getBoundingClientRect();
    callback(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * seconds());
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    report(event);
    if (event.pointerType === "touch") return; // touching may start scrolling the page
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", report);
    element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", report), { once: true });
  });
}

function drawTrack(canvas, row, seconds) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const x = (second) => (second / seconds) * width;
  for (const interval of row.truth ?? []) drawTruth(pen, x(interval.start_s), Math.max(2, x(interval.end_s) - x(interval.start_s)), height);
  for (const interval of row.windows ?? []) drawWindow(pen, x(interval.start_s), x(interval.end_s), height);
  if (row.otherScores) drawCurve(pen, row.otherScores, width, height, COLOURS.other, [5, 4], null);
  if (row.scores) drawCurve(pen, row.scores, width, height, COLOURS.curve, [], COLOURS.fill);
  if (row.found) drawFoundInterval(pen, x(row.found.start_s), x(row.found.end_s), COLOURS.curve);
}

/** Truth: yellow and hatched, so that it does not depend on colour. */
function drawTruth(pen, left, width, height) {
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, width, height);
  pen.clip();
  pen.fillStyle = COLOURS.truth;
  pen.fillRect(left, 0, width, height);
  pen.strokeStyle = COLOURS.truthLine;
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let at = left - height; at < left + width; at += 6) {
    pen.moveTo(at, height);
    pen.lineTo(at + height, 0);
  }
  pen.stroke();
  pen.restore();
}

/** A narration window: a dotted grey line at the bottom. */
function drawWindow(pen, left, right, height) {
  pen.save();
  pen.strokeStyle = COLOURS.window;
  pen.lineWidth = 4;
  pen.setLineDash([2, 2]);
  pen.beginPath();
  pen.moveTo(left, height - 3);
  pen.lineTo(Math.max(right, left + 2), height - 3);
  pen.stroke();
  pen.restore();
}

/** The interval of a found step: a bar at the top. */
function drawFoundInterval(pen, left, right, colour) {
  pen.fillStyle = colour;
  pen.fillRect(left, 0, Math.max(2, right - left), 3);
}

/** Scores of a step scaled between the lowest and highest of the video; the highest score of each pixel is drawn. */
function drawCurve(pen, scores, width, height, colour, dashes, fill) {
  let [low, high] = [Infinity, -Infinity];
  for (const score of scores) {
    if (score < low) low = score;
    if (score > high) high = score;
  }
  const range = Math.max(high - low, 1e-9);
  const y = (score) => height - 7 - ((score - low) / range) * (height - 13);
  const points = [];
  for (let i = 0; i < scores.length; i++) {
    const at = ((i + 0.5) / scores.length) * width;
    const last = points[points.length - 1];
    if (last && Math.floor(last[0]) === Math.floor(at)) last[1] = Math.min(last[1], y(scores[i]));
    else points.push([at, y(scores[i])]);
  }
  pen.save();
  pen.beginPath();
  points.forEach(([at, level], i) => (i ? pen.lineTo(at, level) : pen.moveTo(at, level)));
  pen.strokeStyle = colour;
  pen.lineWidth = 1.4;
  pen.setLineDash(dashes);
  pen.stroke();
  if (fill && points.length) {
    pen.lineTo(points[points.length - 1][0], height);
    pen.lineTo(points[0][0], height);
    pen.closePath();
    pen.fillStyle = fill;
    pen.fill();
  }
  pen.restore();
}
