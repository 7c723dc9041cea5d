// "Learn from N corrections": begin a training, show what it would move, accept or undo.

import { announce, counted, el, formatTime } from "./elements.js";
import { learning, readLearning } from "./server.js";

const POLL_MS = 400;
const LEAD_S = 3; // links play from so many seconds before

/** The panel; `changed()` is called when the answers of the run have changed. */
export function learnPanel(run, changed) {
  const start = el("button", { type: "button", class: "main-button", id: "learn", onclick: () => act("start") });
  const accept = el("button", { type: "button", class: "main-button", id: "accept-learning", hidden: true, onclick: () => act("accept") }, "Accept");
  const undo = el("button", { type: "button", id: "undo-learning", hidden: true, onclick: () => act("undo") });
  const state = el("p", { class: "message", id: "learning-state", role: "status" });
  const moved = el("ol", { class: "moved", id: "moved" });
  const element = el("section", { class: "panel learn", "aria-label": "Learn from corrections" }, el("div", { class: "actions" }, start, accept, undo), state, moved);
  let [count, timer, closed, working] = [0, 0, false, false];

  function show(now) {
    const [ready, running] = [now.state === "ready", now.state === "running"];
    start.disabled = running || !count || Boolean(run.why_not_learning);
    accept.hidden = !ready;
    undo.hidden = !(ready || (now.state === "idle" && now.can_undo));
    undo.textContent = ready ? "Undo: keep the answers as they are" : "Undo the last learning";
    state.textContent = words(now);
    moved.replaceChildren(...(ready ? now.moved.map(movedItem) : []));
    clearTimeout(timer);
    if (running && !closed) timer = setTimeout(poll, POLL_MS);
  }

  function words(now) {
    if (run.why_not_learning) return `Nothing can be learnt here: ${run.why_not_learning}.`;
    if (now.state === "running") return "Learning …";
    if (now.state === "failed") return `Learning failed: ${now.message}`;
    if (now.state !== "ready") return now.can_undo ? "The answers are those of a model that learnt from corrections." : "";
    return now.n_steps ? `${counted(now.n_steps, "step")} in ${counted(now.n_videos, "video")} would move.` : "No step would move.";
  }

  async function poll() {
    try {
      show(await readLearning());
    } catch (error) {
      state.textContent = error.message;
    }
  }

  async function act(action) {
    if (working) return;
    working = true;
    try {
      const before = await readLearning();
      const now = await learning(action);
      show(now);
      announce(state.textContent);
      if (action === "accept" || (action === "undo" && before.state === "idle")) await changed();
    } catch (error) {
      state.textContent = error.message;
      announce(error.message);
    }
    working = false;
  }

  function setCount(corrections) {
    count = corrections;
    start.textContent = `Learn from ${counted(count, "correction")}`;
    poll();
  }

  return { element, setCount, close: () => {
    closed = true;
    clearTimeout(timer);
  } };
}

/** A step that would move, with links that play it before and after. */
function movedItem(step) {
  const link = (second, words) => {
    if (second === null) return el("span", {}, `${words} not shown`);
    const query = new URLSearchParams({ task: step.task, video: step.video, t: Math.max(0, second - LEAD_S).toFixed(1), play: "1" });
    return el("a", { href: `#/video?${query}` }, `${words} ${formatTime(second)}`);
  };
  return el("li", {}, `${step.video}, ${step.step}: `, link(step.before_s, "now"), " → ", link(step.after_s, "then"));
}
