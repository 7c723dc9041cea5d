// The page: the screen for the current address, and the keys that work on every screen.

import { browse } from "./browse.js";
import { el } from "./elements.js";
import { review } from "./review.js";
import { readRun } from "./server.js";
import { watch } from "./watch.js";

const main = document.getElementById("main");
const help = document.getElementById("help");
let screen = null;
let run = null;
let shownHash = null; // the address of the current screen
let latestRequest = 0; // an older, slower response must not replace a newer screen

/** "#/video?task=1&video=x" -> ["video", URLSearchParams]. */
function parseHash() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return [path, new URLSearchParams(query)];
}

async function show() {
  if (location.hash === "#main") return;
  if (screen?.mayLeave && shownHash !== location.hash && !screen.mayLeave()) {
    history.replaceState(null, "", shownHash);
    return;
  }
  const [path, parameters] = parseHash();
  const request = ++latestRequest;
  shownHash = location.hash;
  try {
    const next = path === "video" ? await watch(run, parameters) : path === "review" ? await review(run) : await browse(run, parameters);
    if (request !== latestRequest) return;
    screen?.close?.();
    screen = next;
    main.replaceChildren(next.element);
    next.opened?.();
    document.title = `${next.title} · crosstask`;
  } catch (error) {
    if (request === latestRequest) showError(error);
  }
}

function showError(error) {
  screen?.close?.();
  screen = null;
  main.replaceChildren(
    el("section", { class: "sheet problem", role: "alert" },
      el("h1", {}, "This page could not be shown"),
      el("p", {}, error.message),
      el("p", {}, el("a", { href: "#/" }, "All videos")),
    ),
  );
}

function isTextField(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function onKeyDown(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || isTextField(event.target)) return;
  if (help.open) return;
  if (event.key === "?") {
    openHelp();
    event.preventDefault();
    return;
  }
  // Space activates a control that was focused by keyboard; after a mouse click it plays and pauses the video.
  const control = event.target.closest("button, a, summary, [role=slider], [role=tab]");
  if (event.key === " " && control?.matches(":focus-visible")) return;
  if (screen?.key?.(event)) event.preventDefault();
}

function openHelp() {
  help.showModal();
}

window.addEventListener("hashchange", show);
window.addEventListener("keydown", onKeyDown);
window.addEventListener("beforeunload", (event) => {
  if (screen?.hasUnsavedChanges?.()) event.preventDefault();
});
document.getElementById("help-button").addEventListener("click", openHelp);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

try {
  run = await readRun();
  document.getElementById("run-title").textContent = run.title;
  document.getElementById("synthetic").hidden = !run.synthetic;
  await show();
} catch (error) {
  showError(error);
}
