// The first screen: the tasks, a search, and the videos in pages.

import { announce, counted, el, formatTime, PERSON, VERDICTS } from "./elements.js";
import { readVideos } from "./server.js";

const PAGE_SIZE = 25;
const FILTERS = {
  all: "All videos",
  unmarked: "Relevance not marked",
  relevant: "Marked relevant",
  irrelevant: "Marked irrelevant",
  annotated: "With a saved annotation",
  "not-annotated": "Without annotation",
};

function address(state) {
  const kept = Object.entries(state).filter(([name, value]) => value && !(name === "show" && value === "all") && !(name === "page" && value === 1));
  const query = new URLSearchParams(kept).toString();
  return query ? `#/?${query}` : "#/";
}

export async function browse(run, parameters) {
  const state = {
    task: parameters.get("task") ?? "",
    search: parameters.get("search") ?? "",
    show: parameters.get("show") in FILTERS ? parameters.get("show") : "all",
    page: Math.max(1, Number.parseInt(parameters.get("page") ?? "1", 10) || 1),
  };
  const list = el("div", { class: "videos" });
  const stripLegendElement = el("p", { class: "strip-key" });
  const count = el("p", { class: "count", id: "count" });
  const stepCounts = el("p", { class: "count", id: "step-counts" });
  const pager = el("nav", { class: "pager", "aria-label": "Pages of the list" });
  const heading = el("h1", { id: "list-title" });
  const about = el("p", { class: "about" });
  const tasks = el("ul", { class: "tasks" });
  const taskChoice = el("select", { id: "task-choice", onchange: () => change({ task: taskChoice.value, page: 1 }) });
  let latestRequest = 0;
  let timer = 0;

  async function fill() {
    const request = ++latestRequest;
    const found = await readVideos({ ...state, page_size: PAGE_SIZE });
    if (request !== latestRequest) return;
    state.page = found.page;
    const task = run.tasks.find((one) => one.id === state.task);
    heading.textContent = task ? task.title : "All tasks";
    about.textContent = task ? `Steps: ${task.steps.join(" → ")}` : "When each step of a how-to task happens in these videos, found automatically. Choose a video to watch its steps.";
    list.replaceChildren(found.videos.length ? el("ul", { class: "cards" }, found.videos.map(card)) : noVideos());
    count.textContent = counted(found.total, "video");
    if (found.n_found !== undefined) stepCounts.textContent = `${counted(found.n_found, "step")} found, ${found.n_corrected} corrected`;
    stripLegendElement.replaceChildren(...stripLegend(found.videos, run.sources[0]?.label));
    pager.replaceChildren(...pages(found));
    for (const link of tasks.querySelectorAll("a")) {
      if (link.dataset.task === state.task) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    taskChoice.value = state.task;
  }

  function change(changes) {
    Object.assign(state, changes);
    history.replaceState(null, "", address(state));
    return fill().then(() => announce(count.textContent), (error) => {
      list.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message));
    });
  }

  function pages(found) {
    if (found.pages === 1) return [];
    const step = (to, words) =>
      el("button", { type: "button", disabled: to < 1 || to > found.pages, onclick: () => change({ page: to }).then(() => heading.focus()) }, words);
    return [step(found.page - 1, "‹ Previous"), el("span", {}, `Page ${found.page} of ${found.pages}`), step(found.page + 1, "Next ›")];
  }

  const taskLink = (id, title, number) =>
    el("li", {}, el("a", { href: address({ task: id }), "data-task": id, onclick: (event) => {
      event.preventDefault();
      change({ task: id, page: 1 });
    } }, el("span", {}, title), el("span", { class: "number" }, String(number))));
  tasks.append(taskLink("", "All tasks", run.n_videos), ...run.tasks.map((task) => taskLink(task.id, task.title, task.n_videos)));
  taskChoice.append(
    el("option", { value: "" }, `All tasks (${run.n_videos})`),
    ...run.tasks.map((task) => el("option", { value: task.id }, `${task.title} (${task.n_videos})`)),
  );
  heading.tabIndex = -1;
  const search = el("input", {
    type: "search", id: "search", value: state.search, placeholder: "Search by name …", autocomplete: "off", maxLength: 200,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({ search: search.value, page: 1 }), 200);
    },
  });
  const show = el("select", { id: "show", onchange: () => change({ show: show.value, page: 1 }) },
    Object.entries(FILTERS).map(([value, words]) => el("option", { value, selected: value === state.show }, words)));

  const element = el("div", { class: "browse" },
    el("aside", { class: "side" }, el("nav", { "aria-label": "Tasks" }, el("h2", {}, "Tasks"), tasks)),
    el("section", { class: "listing", "aria-labelledby": "list-title" },
      heading, about,
      el("div", { class: "filters" },
        el("label", { class: "field only-narrow" }, el("span", {}, "Task"), taskChoice),
        el("label", { class: "field grow" }, el("span", {}, "Search videos"), search),
        el("label", { class: "field" }, el("span", {}, "Show"), show),
        count, stepCounts,
      ),
      stripLegendElement, list, pager,
      el("details", { class: "facts" }, el("summary", {}, "About this run"),
        el("p", {}, `Made by: `, el("code", {}, run.command)), ...run.notes.map((note) => el("p", {}, note)), recalls(run)),
    ),
  );
  await fill();
  return { element, title: "Videos", close: () => clearTimeout(timer) };

  function noVideos() {
    return el("p", { class: "empty" }, "No video matches. ", el("a", { href: "#/", onclick: (event) => {
      event.preventDefault();
      search.value = "";
      show.value = "all";
      change({ task: "", search: "", show: "all", page: 1 });
    } }, "Show all videos"));
  }
}

/** The legend of the marks on the strips: only the verdicts that occur on this page. */
function stripLegend(videos, method) {
  const present = new Set(videos.flatMap((video) => video.marks.map((mark) => mark.verdict)));
  if (!present.size) return [];
  const entries = Object.keys(VERDICTS).filter((verdict) => present.has(verdict)).map((verdict) =>
    el("span", { class: "key-entry" }, el("span", { class: `mark fixed ${verdict}`, "aria-hidden": "true" }, VERDICTS[verdict].glyph), VERDICTS[verdict].key));
  if (videos.some((video) => video.marks.some((mark) => mark.by === "person"))) entries.push(el("span", { class: "key-entry" }, el("span", { class: "mark fixed unknown by-person", "aria-hidden": "true" }, PERSON.glyph), PERSON.key));
  return [`Each strip is a video from start to end, with the steps as localized by “${method}”.`, ...entries];
}

function card(video) {
  const words = [];
  if (video.n_present !== null) words.push(`${video.n_right} of ${video.n_present} steps right`);
  if (video.media) words.push("▶ video");
  const badges = [];
  if (video.annotated) badges.push(el("span", { class: "badge done" }, "✎ annotated"));
  if (video.relevance === "relevant") badges.push(el("span", { class: "badge good" }, "✓ relevant"));
  if (video.relevance === "irrelevant") badges.push(el("span", { class: "badge bad" }, "✕ irrelevant"));
  const strip = el("span", { class: "strip", "aria-hidden": "true" }, video.marks.map((mark) => {
    const tick = el("span", { class: `mark ${mark.verdict}${mark.by === "person" ? " by-person" : ""}` }, mark.by === "person" ? PERSON.glyph : VERDICTS[mark.verdict].glyph);
    tick.style.left = `calc(8px + (100% - 16px) * ${(mark.moment_s + 0.5) / video.seconds})`;
    return tick;
  }));
  const target = `#/video?${new URLSearchParams({ task: video.task, video: video.video })}`;
  return el("li", {}, el("a", { class: "card", href: target },
    el("span", { class: "card-name" }, el("strong", {}, video.video), el("span", { class: "card-task" }, video.title)),
    el("span", { class: "card-time" }, formatTime(video.seconds)),
    strip,
    el("span", { class: "card-words" }, words.join(" · "), ...badges),
  ));
}

function recalls(run) {
  const rows = run.sources.filter((source) => source.mean_recall_over_tasks !== null);
  if (!rows.length) return el("p", {}, "This run has no results.");
  return el("table", {},
    el("caption", {}, run.synthetic ? "Step recall, mean over tasks (synthetic data)" : "Step recall, mean over tasks"),
    el("tbody", {}, rows.map((source) => el("tr", {}, el("th", { scope: "row" }, source.label), el("td", {}, `${(100 * source.mean_recall_over_tasks).toFixed(1)} %`)))));
}
