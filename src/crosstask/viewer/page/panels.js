// The panels above the timeline: try other steps, correct labels, annotate one step at a time.

import { announce, clock, el, many } from "./elements.js";

/** "Try other steps": a list, one step a line; `look(steps)` finds them and answers with the parse. */
export function stepsPanel(steps, newStepsWork, look) {
  const box = el("textarea", { id: "steps-box", rows: Math.min(12, steps.length + 2), spellcheck: false, value: steps.join("\n"), maxLength: 12000 });
  const said = el("p", { class: "said", id: "steps-said" });
  let timer = 0;
  let asked = 0;

  const listed = () => box.value.split("\n").map((step) => step.trim()).filter(Boolean);
  async function refresh() {
    const names = listed();
    const mine = ++asked;
    if (!names.length) {
      said.textContent = "Write at least one step.";
      return;
    }
    said.textContent = `Looking for ${many(names.length, "step")} …`;
    try {
      const found = await look(names);
      if (mine !== asked) return;
      const by = found.how === "model" ? "by the model" : "with the scores this run kept";
      said.textContent = [`Placed ${many(found.steps.length, "step")} ${by}.`, ...found.notes].join(" ");
      said.classList.remove("problem");
    } catch (error) {
      if (mine !== asked) return;
      said.textContent = error.message;
      said.classList.add("problem");
    }
    announce(said.textContent);
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
      ? "Change the list, one step a line, in order. Any words will do: the new parse appears at once."
      : "Change the order, or leave steps out, one step a line: the new parse appears at once."),
    box, el("div", { class: "actions" }, reset), said);
  return { element, refresh, close: () => clearTimeout(timer) };
}

/** Save, undo, and numbers for the chosen label; shared by correcting and annotating. */
export function savingBar(draft, steps, save) {
  const saveButton = el("button", { type: "button", class: "main-button", id: "save", onclick: save }, "Save");
  const undo = el("button", { type: "button", id: "undo", onclick: () => draft().undo() }, "Undo");
  const state = el("span", { class: "state", id: "saved-state" });
  const start = el("input", { type: "number", step: 0.1, min: 0, id: "label-start", onchange: typed });
  const end = el("input", { type: "number", step: 0.1, min: 0, id: "label-end", onchange: typed });
  const name = el("strong", {});
  const remove = el("button", { type: "button", id: "label-remove", onclick: () => draft().chosen && draft().remove(draft().chosen) }, "Remove label");
  const chosen = el("div", { class: "chosen-label" }, name,
    el("label", {}, "from ", start, " s"), el("label", {}, "to ", end, " s"), remove);
  function typed() {
    const span = draft().chosen;
    if (span && start.value !== "" && end.value !== "") draft().move(span, Number(start.value), Math.max(Number(end.value), Number(start.value) + 0.1));
  }
  function refresh() {
    const { chosen: span, unsaved, saved, past, spans } = draft();
    chosen.hidden = !span;
    if (span) {
      name.textContent = `${span.step}. ${steps[span.step - 1]}`;
      if (document.activeElement !== start) start.value = span.start_s;
      if (document.activeElement !== end) end.value = span.end_s;
    }
    saveButton.disabled = !unsaved && (saved || !spans.length);
    undo.disabled = !past.length;
    state.textContent = unsaved ? `${many(spans.length, "label")}, not saved yet` : state.dataset.saved ?? many(spans.length, "label");
    state.classList.toggle("unsaved", unsaved);
  }
  return { element: el("div", { class: "saving" }, el("div", { class: "actions" }, saveButton, undo, state), chosen), refresh, state };
}

/** "Correct labels": what to do, and the saving bar. */
export function correctPanel(bar, from) {
  return el("section", { class: "panel", "aria-label": "Correct labels" },
    el("p", { class: "panel-lead" }, `Drag a label to where the step happens; drag its ends to stretch it; + adds one. ${from}`), bar.element);
}

/** "Annotate": one step at a time, nothing else in sight. */
export function annotatePanel(steps, draft, player, bar, moved) {
  let at = 0;
  let begun = null;
  const absent = new Set();
  const title = el("p", { class: "one-step", id: "one-step", "aria-live": "polite" });
  const hint = el("p", { class: "hint" });
  const button = (id, words, key, action) => el("button", { type: "button", id, onclick: action }, words, key ? el("kbd", {}, key) : null);
  const chips = el("ol", { class: "chips", "aria-label": "Steps" });

  function go(to) {
    at = Math.min(Math.max(0, to), steps.length - 1);
    begun = null;
    draft().chosen = null;
    moved(at);
  }
  function starts() {
    begun = player.time;
    absent.delete(at);
    hint.textContent = `Starts at ${clock(begun)}. Play on, then say where it ends.`;
    announce(hint.textContent);
    endButton.focus({ focusVisible: false });
  }
  function ends() {
    const now = player.time;
    if (begun === null) {
      hint.textContent = "Say first where it starts.";
      announce(hint.textContent);
      return;
    }
    const [start, end] = begun <= now ? [begun, now] : [now, begun];
    begun = null;
    draft().add(at + 1, start, Math.max(end, start + 0.5));
    announce(`${steps[at]} labelled.`);
  }
  function notShown() {
    absent.add(at);
    draft().clear(at + 1);
    draft().unsaved = true;
    announce(`${steps[at]}: not shown.`);
    if (at + 1 < steps.length) go(at + 1);
    else moved(at);
  }
  function refresh() {
    title.replaceChildren(el("span", { class: "of" }, `Step ${at + 1} of ${steps.length}`), el("strong", {}, steps[at]));
    const labels = draft().of(at + 1).length;
    if (begun === null) hint.textContent = labels ? `${many(labels, "label")}. Mark it again if it happens more than once, or go on.` : absent.has(at) ? "Not shown in this video." : "Play the video; when the step starts, press “Starts here”.";
    back.disabled = at === 0;
    next.disabled = at === steps.length - 1;
    chips.replaceChildren(...steps.map((step, k) => {
      const [glyph, words] = draft().of(k + 1).length ? ["✓", "labelled"] : absent.has(k) ? ["–", "not shown"] : ["○", "to do"];
      return el("li", {}, el("button", { type: "button", class: "chip", "aria-current": k === at ? "step" : null, "aria-label": `Step ${k + 1}, ${step}: ${words}`, onclick: () => go(k) }, `${k + 1} ${glyph}`));
    }));
  }
  const endButton = button("ends", "Ends here", "E", ends);
  const back = button("back-step", "‹ Step before", null, () => go(at - 1));
  const next = button("next-step", "Next step ›", null, () => go(at + 1));
  const element = el("section", { class: "panel annotate", "aria-label": "Annotate from scratch" },
    chips, title, hint,
    el("div", { class: "actions large" }, button("starts", "Starts here", "S", starts), endButton, button("not-shown", "Not shown", "X", notShown)),
    el("div", { class: "actions" }, back, next), bar.element);
  const key = (name) => {
    const action = { s: starts, e: ends, x: notShown }[name.toLowerCase()];
    action?.();
    return Boolean(action);
  };
  return { element, refresh, key, go, at: () => at };
}
