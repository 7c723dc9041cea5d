// Helpers of all screens: DOM elements, formatted times, announcements for screen readers.

/** A DOM element with attributes, event listeners ("onclick") and children; null children are left out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && !name.startsWith("aria") && name !== "role" && name !== "list") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** 75.4 -> "1:15"; from one hour on "1:02:03". */
export function formatTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), String(whole % 60).padStart(2, "0")];
  return h ? `${h}:${String(m).padStart(2, "0")}:${s}` : `${m}:${s}`;
}

/** Text read by screen readers, not visible. The same text again is read again. */
export function announce(text) {
  const region = document.getElementById("announcer");
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** For each verdict: its sign on the timeline, its name, and its text in the legend. */
export const VERDICTS = {
  right: { glyph: "✓", words: "right", key: "found at the right moment" },
  wrong: { glyph: "✕", words: "wrong moment", key: "found at a wrong moment" },
  absent: { glyph: "–", words: "not in video", key: "found, but not in the video" },
  unknown: { glyph: "●", words: "found", key: "found" },
};

/** How a step is marked that a person confirmed or corrected. */
export const PERSON = { glyph: "✎", words: "by a person", key: "confirmed or corrected by a person" };

/** (1, "step") -> "1 step"; (2, "step") -> "2 steps". */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
