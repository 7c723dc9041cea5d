// Playback of the video file, or of a timer if there is none. Both have the same interface.

import { el, formatTime } from "./elements.js";

const SPEEDS = [0.5, 1, 1.5, 2, 5];

export class Player {
  constructor(seconds, mediaAddress, onTime) {
    this.seconds = seconds;
    this.onTime = onTime;
    this.now = 0;
    this.running = false;
    this.rate = 1;
    this.frame = 0;
    this.video = mediaAddress ? this.#video(mediaAddress) : null;
    this.caption = el("div", { class: "caption" });
    this.message = el("p", { class: "stage-note" }, mediaAddress ? "" : "No video file: only the time is played");
    this.stage = el("div", { class: mediaAddress ? "stage" : "stage blank", onclick: () => this.toggle() }, this.video, this.caption, this.message);
    this.element = el("div", { class: "player" }, this.stage, this.#controls());
    this.#notify();
  }

  #video(address) {
    const video = el("video", { src: address, preload: "metadata", playsInline: true, "aria-label": "Video" });
    video.addEventListener("play", () => this.#started());
    video.addEventListener("pause", () => this.#stopped());
    video.addEventListener("seeked", () => this.#notify());
    video.addEventListener("loadedmetadata", () => {
      if (this.now) video.currentTime = this.now;
    });
    video.addEventListener("error", () => this.#useTimer());
    return video;
  }

  /** Called if the browser cannot play the file: continue with the timer. */
  #useTimer() {
    this.video?.remove();
    this.video = null;
    this.#stopped();
    this.stage.classList.add("blank");
    this.message.textContent = "This browser cannot play the file: only the time is played";
  }

  #controls() {
    this.button = el("button", { type: "button", class: "play", id: "play", onclick: () => this.toggle() }, "▶ Play");
    this.readout = el("span", { class: "time", id: "time" });
    const speed = el("select", { "aria-label": "Speed", onchange: () => this.setRate(Number(speed.value)) },
      SPEEDS.map((value) => el("option", { value, selected: value === 1 }, `${value}×`)));
    const sound = this.video && el("button", { type: "button", class: "quiet", "aria-pressed": "false", onclick: () => {
      this.video.muted = !this.video.muted;
      sound.setAttribute("aria-pressed", String(this.video.muted));
    } }, "Mute");
    const large = this.video && el("button", { type: "button", class: "quiet", onclick: () => this.video?.requestFullscreen?.() }, "Full screen");
    return el("div", { class: "controls" }, this.button, this.readout, speed, sound, large);
  }

  /** Shows the name of the current step; without a video it fills the stage. */
  setCaption(text) {
    this.caption.textContent = text || (this.video ? "" : "– before the first step –");
  }

  get time() {
    return this.video ? this.video.currentTime : this.now;
  }

  get paused() {
    return !this.running;
  }

  setRate(rate) {
    this.rate = rate;
    if (this.video) this.video.playbackRate = rate;
  }

  seek(second) {
    this.now = Math.min(Math.max(0, second), this.seconds);
    if (this.video) this.video.currentTime = this.now;
    this.#notify(this.now);
  }

  toggle() {
    if (this.running) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.seconds - 0.05) this.seek(0);
    if (this.video) this.video.play().catch(() => this.#stopped());
    else this.#started();
  }

  pause() {
    if (this.video) this.video.pause();
    else this.#stopped();
  }

  close() {
    this.pause();
    cancelAnimationFrame(this.frame);
    if (this.video) {
      this.video.removeAttribute("src");
      this.video.load();
      this.video = null;
    }
  }

  #started() {
    this.running = true;
    this.last = performance.now();
    this.button.textContent = "❚❚ Pause";
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.#tick);
  }

  #stopped() {
    this.running = false;
    this.button.textContent = "▶ Play";
    cancelAnimationFrame(this.frame);
    this.#notify();
  }

  #tick = (stamp) => {
    if (!this.running) return;
    if (!this.video) {
      this.now = Math.min(this.seconds, this.now + Math.max(0, (stamp - this.last) / 1000) * this.rate);
      this.last = stamp;
      if (this.now >= this.seconds) {
        this.#stopped();
        return;
      }
    }
    this.#notify();
    this.frame = requestAnimationFrame(this.#tick);
  };

  #notify(second = this.time) {
    this.readout.textContent = `${formatTime(second)} / ${formatTime(this.seconds)}`;
    this.onTime(second);
  }
}
