/** Short messages at the edge of the page, read out by screen readers. */

import { element } from "./element";

const line = element("div", { class: "notice", role: "status", "aria-live": "polite" });
let timer: number | undefined;

const spoken = element("div", { class: "off-screen", role: "status", "aria-live": "polite" });

/** For what the eye sees anyway. */
export function say(text: string): void {
  document.body.append(spoken);
  spoken.textContent = text;
}

export function announce(text: string): void {
  // A modal dialog covers everything that is not in it.
  (document.querySelector("dialog[open]") ?? document.body).append(line);
  line.textContent = text;
  line.classList.add("shown");
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    line.classList.remove("shown");
    line.textContent = "";
    document.body.append(line);
  }, 4000);
}
