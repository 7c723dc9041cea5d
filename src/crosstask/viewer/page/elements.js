// Elements, clock times and announcements: what every screen needs.

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

/** 75.4 -> "1:15"; an hour and more -> "1:02:03". */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), String(whole % 60).padStart(2, "0")];
  return h ? `${h}:${String(m).padStart(2, "0")}:${s}` : `${m}:${s}`;
}

/** Said by screen readers, unseen. The same words twice are said twice. */
export function announce(words) {
  const region = document.getElementById("announcer");
  region.textContent = region.textContent === words ? `${words}\u00a0` : words;
}

export const VERDICTS = {
  right: { glyph: "✓", words: "right", key: "found at the right moment" },
  wrong: { glyph: "✕", words: "wrong moment", key: "found at a wrong moment" },
  absent: { glyph: "–", words: "not in video", key: "found, but not in the video" },
  unknown: { glyph: "●", words: "found", key: "found" },
};

export function many(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
