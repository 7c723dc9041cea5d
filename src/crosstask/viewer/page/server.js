// Requests to the server.

async function parseResponse(response) {
  const type = response.headers.get("content-type") ?? "";
  const data = type.includes("json") ? await response.json() : null;
  if (!response.ok) throw new Error(data?.detail ?? `the server responded with status ${response.status}`);
  return data;
}

let identity = null; // of the run from which this page was loaded; the server refuses what a page of another run says

const headers = (type) => ({ ...type, ...(identity === null ? {} : { "x-crosstask-run": identity }) });

function read(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return fetch(query ? `${path}?${query}` : path, { headers: headers({ accept: "application/json" }) }).then(parseResponse);
}

function write(method, path, body) {
  return fetch(path, { method, headers: headers({ "content-type": "application/json" }), body: JSON.stringify(body) }).then(parseResponse);
}

export async function readRun() {
  const run = await read("api/run");
  identity = run.identity;
  return run;
}
export const readVideos = (parameters) => read("api/videos", parameters);
export const readVideo = (task, video) => read("api/video", { task, video });
export const readScores = (task, video, source) => read("api/scores", { task, video, source }).then((data) => data.scores);
export const readTranscript = (task, video) => read("api/transcript", { task, video }).then((data) => data.lines);
export const localizeSteps = (task, video, source, steps) => write("POST", "api/parse", { task, video, source, steps });
export const saveAnnotation = (task, video, spans, steps, seen) => write("PUT", "api/annotation", { task, video, spans, steps, seen });
export const readReview = (n = 20) => read("api/review", { n });
export const saveLabel = (label) => write("PUT", "api/label", label);
export const undoChange = (change) => write("POST", "api/undo", { change });
export const readLearning = () => read("api/learning");
export const learning = (action) => write("POST", "api/learning", { action });
export const saveRelevance = (task, video, relevance) => write("PUT", "api/relevance", { task, video, relevance });
export const mediaAddress = (task, video) => `media?${new URLSearchParams({ task, video })}`;
