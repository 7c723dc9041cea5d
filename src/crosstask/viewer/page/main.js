// The page: which screen the address asks for, and the keys that work everywhere.

import { browse } from "./browse.js";
import { el } from "./elements.js";
import { readRun } from "./server.js";
import { watch } from "./watch.js";

const main = document.getElementById("main");
const help = document.getElementById("help");
let screen = null;
let run = null;
let shown = null; // the address on the screen
let asked = 0; // a slower, older answer must not replace a newer screen

/** "#/video?task=1&video=x" -> ["video", URLSearchParams]. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return [path, new URLSearchParams(query)];
}

async function show() {
  if (location.hash === "#main") return;
  if (screen?.leaving && shown !== location.hash && !screen.leaving()) {
    history.replaceState(null, "", shown);
    return;
  }
  const [path, parameters] = place();
  if (screen?.stays?.(path, parameters)) {
    shown = location.hash;
    return;
  }
  const mine = ++asked;
  shown = location.hash;
  try {
    const next = path === "video" ? await watch(run, parameters) : await browse(run, parameters);
    if (mine !== asked) return;
    screen?.close?.();
    screen = next;
    main.replaceChildren(next.element);
    next.opened?.();
    document.title = `${next.title} · crosstask`;
  } catch (error) {
    if (mine === asked) complain(error);
  }
}

function complain(error) {
  screen?.close?.();
  screen = null;
  main.replaceChildren(
    el("section", { class: "sheet problem", role: "alert" },
      el("h1", {}, "This could not be shown"),
      el("p", {}, error.message),
      el("p", {}, el("a", { href: "#/" }, "All videos")),
    ),
  );
}

function typing(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || typing(event.target)) return;
  if (help.open) return;
  if (event.key === "?") {
    openHelp();
    event.preventDefault();
    return;
  }
  // Space belongs to a control that was reached with the keyboard; after a mouse click it plays and pauses.
  const control = event.target.closest("button, a, summary, [role=slider], [role=tab]");
  if (event.key === " " && control?.matches(":focus-visible")) return;
  if (screen?.key?.(event)) event.preventDefault();
}

function openHelp() {
  help.showModal();
}

window.addEventListener("hashchange", show);
window.addEventListener("keydown", pressed);
window.addEventListener("beforeunload", (event) => {
  if (screen?.unsaved?.()) event.preventDefault();
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
  complain(error);
}
