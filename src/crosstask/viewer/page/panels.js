// The panels above the timeline: try other steps, correct labels, annotate one step at a time.

import { announce, counted, el, formatTime } from "./elements.js";

/** "Try other steps": a list with one step per line; `localize(steps)` returns their localization. */
export function stepsPanel(steps, newStepsWork, localize) {
  const box = el("textarea", { id: "steps-box", rows: Math.min(12, steps.length + 2), spellcheck: false, value: steps.join("\n"), maxLength: 12000 });
  const message = el("p", { class: "message", id: "steps-message" });
  let timer = 0;
  let latestRequest = 0;

  const listed = () => box.value.split("\n").map((step) => step.trim()).filter(Boolean);
  async function refresh() {
    const names = listed();
    const request = ++latestRequest;
    if (!names.length) {
      message.textContent = "Write at least one step.";
      return;
    }
    message.textContent = `Localizing ${counted(names.length, "step")} …`;
    try {
      const found = await localize(names);
      if (request !== latestRequest) return;
      const by = found.how === "model" ? "by the model" : "with the scores stored in this run";
      message.textContent = [`Localized ${counted(found.steps.length, "step")} ${by}.`, ...found.notes].join(" ");
      message.classList.remove("problem");
    } catch (error) {
      if (request !== latestRequest) return;
      message.textContent = error.message;
      message.classList.add("problem");
    }
    announce(message.textContent);
  }
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, 350);
  });
  const reset = el("button", { type: "button", onclick: () => {
    box.value = steps.join("\n");
    refresh();
  } }, "Back to the task's own steps");
  const element = el("section", { class: "panel", "aria-label": "Try other steps" },
    el("label", { for: "steps-box", class: "panel-lead" }, newStepsWork
      ? "Edit the list, one step per line, in order. Any words can be used; the steps are localized again at once."
      : "Change the order or leave steps out, one step per line; the steps are localized again at once."),
    box, el("div", { class: "actions" }, reset), message);
  return { element, refresh, close: () => clearTimeout(timer) };
}

/** Save, undo, and start and end of the chosen label; used for correcting and annotating. */
export function savingBar(draft, steps, save) {
  const saveButton = el("button", { type: "button", class: "main-button", id: "save", onclick: save }, "Save");
  const undo = el("button", { type: "button", id: "undo", onclick: () => draft().undo() }, "Undo");
  const state = el("span", { class: "state", id: "saved-state" });
  const start = el("input", { type: "number", step: 0.1, min: 0, id: "label-start", onchange: onInput });
  const end = el("input", { type: "number", step: 0.1, min: 0, id: "label-end", onchange: onInput });
  const name = el("strong", {});
  const remove = el("button", { type: "button", id: "label-remove", onclick: () => draft().chosen && draft().remove(draft().chosen) }, "Remove label");
  const chosen = el("div", { class: "chosen-label" }, name,
    el("label", {}, "from ", start, " s"), el("label", {}, "to ", end, " s"), remove);
  function onInput() {
    const interval = draft().chosen;
    if (interval && start.value !== "" && end.value !== "") draft().move(interval, Number(start.value), Math.max(Number(end.value), Number(start.value) + 0.1));
  }
  function refresh() {
    const { chosen: interval, unsaved, saved, undoStack, intervals } = draft();
    chosen.hidden = !interval;
    if (interval) {
      name.textContent = `${interval.step}. ${steps[interval.step - 1]}`;
      if (document.activeElement !== start) start.value = interval.start_s;
      if (document.activeElement !== end) end.value = interval.end_s;
    }
    saveButton.disabled = !unsaved && (saved || !intervals.length);
    undo.disabled = !undoStack.length;
    state.textContent = unsaved ? `${counted(intervals.length, "label")}, not saved yet` : state.dataset.saved ?? counted(intervals.length, "label");
    state.classList.toggle("unsaved", unsaved);
  }
  return { element: el("div", { class: "saving" }, el("div", { class: "actions" }, saveButton, undo, state), chosen), refresh, state };
}

/** "Correct labels": what to do, the saving bar, and the saved changes of the video; `undo(change)` takes one back. */
export function correctPanel(bar, from, changes, undo) {
  const item = ({ change, words }) => el("li", {}, words, " ", el("button", { type: "button", class: "quiet", "data-change": change, onclick: () => undo(change) }, "Undo"));
  const history = el("details", { class: "history", id: "history" }, el("summary", {}, `History: ${counted(changes.length, "saved change")}`), el("ol", { reversed: true }, [...changes].reverse().map(item)));
  return el("section", { class: "panel", "aria-label": "Correct labels" },
    el("p", { class: "panel-lead" }, `Drag a label to where the step happens; drag its ends to change its length; + adds one. Saving labels the steps that were changed, or all if none was. ${from}`),
    bar.element, changes.length ? history : null);
}

/** "Annotate": one step at a time, without predictions. */
export function annotatePanel(steps, draft, player, bar, moved) {
  let at = 0;
  let startTime = null;
  const absent = new Set();
  const title = el("p", { class: "one-step", id: "one-step", "aria-live": "polite" });
  const hint = el("p", { class: "hint" });
  const button = (id, words, key, action) => el("button", { type: "button", id, onclick: action }, words, key ? el("kbd", {}, key) : null);
  const chips = el("ol", { class: "chips", "aria-label": "Steps" });

  function go(to) {
    at = Math.min(Math.max(0, to), steps.length - 1);
    startTime = null;
    draft().chosen = null;
    moved(at);
  }
  function markStart() {
    startTime = player.time;
    absent.delete(at);
    hint.textContent = `Starts at ${formatTime(startTime)}. Continue playing, then mark where it ends.`;
    announce(hint.textContent);
    endButton.focus({ focusVisible: false });
  }
  function markEnd() {
    const now = player.time;
    if (startTime === null) {
      hint.textContent = "First mark where it starts.";
      announce(hint.textContent);
      return;
    }
    const [start, end] = startTime <= now ? [startTime, now] : [now, startTime];
    startTime = null;
    draft().add(at + 1, start, Math.max(end, start + 0.5));
    announce(`${steps[at]} labelled.`);
  }
  function markNotShown() {
    absent.add(at);
    draft().declared.add(at + 1);
    draft().clear(at + 1);
    draft().unsaved = true;
    announce(`${steps[at]}: not shown.`);
    if (at + 1 < steps.length) go(at + 1);
    else moved(at);
  }
  function refresh() {
    title.replaceChildren(el("span", { class: "of" }, `Step ${at + 1} of ${steps.length}`), el("strong", {}, steps[at]));
    const labels = draft().of(at + 1).length;
    if (startTime === null) hint.textContent = labels ? `${counted(labels, "label")}. Mark it again if it happens more than once, or continue.` : absent.has(at) ? "Not shown in this video." : "Play the video; when the step starts, press “Starts here”.";
    back.disabled = at === 0;
    next.disabled = at === steps.length - 1;
    chips.replaceChildren(...steps.map((step, k) => {
      const [glyph, words] = draft().of(k + 1).length ? ["✓", "labelled"] : absent.has(k) ? ["–", "not shown"] : ["○", "to do"];
      return el("li", {}, el("button", { type: "button", class: "chip", "aria-current": k === at ? "step" : null, "aria-label": `Step ${k + 1}, ${step}: ${words}`, onclick: () => go(k) }, `${k + 1} ${glyph}`));
    }));
  }
  const endButton = button("ends", "Ends here", "E", markEnd);
  const back = button("back-step", "‹ Previous step", null, () => go(at - 1));
  const next = button("next-step", "Next step ›", null, () => go(at + 1));
  const element = el("section", { class: "panel annotate", "aria-label": "Annotate from scratch" },
    chips, title, hint,
    el("div", { class: "actions large" }, button("starts", "Starts here", "S", markStart), endButton, button("not-shown", "Not shown", "X", markNotShown)),
    el("div", { class: "actions" }, back, next), bar.element);
  const key = (name) => {
    const action = { s: markStart, e: markEnd, x: markNotShown }[name.toLowerCase()];
    action?.();
    return Boolean(action);
  };
  return { element, refresh, key, go, at: () => at };
}
