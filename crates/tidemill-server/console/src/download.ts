/** Rows as files: the server answers a SELECT in the format that is asked for. */

import { ApiError, download, errorText } from "./api";
import { button, element, icon, replace } from "./element";
import { announce } from "./status";
import { bytesText } from "./value";

interface Format {
  label: string;
  accept: string;
  extension: string;
}

export const FORMATS: Format[] = [
  { label: "CSV", accept: "text/csv", extension: "csv" },
  { label: "JSON lines", accept: "application/x-ndjson", extension: "jsonl" },
  { label: "Arrow", accept: "application/vnd.apache.arrow.stream", extension: "arrows" },
  { label: "Parquet", accept: "application/vnd.apache.parquet", extension: "parquet" },
];

/** A menu of the formats. `name` is the file's name without its extension. */
export function downloadMenu(sql: string, name: string): HTMLElement {
  const progress = element("span", { class: "muted download-progress", role: "status" });
  let running: AbortController | null = null;
  const stop = button("Stop", { class: "quiet", hidden: true, onclick: () => running?.abort() });

  const start = async (format: Format) => {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    stop.hidden = false;
    const file = `${fileName(name)}.${format.extension}`;
    replace(progress, `${file}…`);
    try {
      const blob = await download(sql, format.accept, controller.signal, (bytes) => replace(progress, `${file}: ${bytesText(bytes)}`));
      save(blob, file);
      replace(progress, `${file}: ${bytesText(blob.size)}, saved`);
    } catch (error) {
      if (running !== controller) return;
      const text = error instanceof ApiError && error.cancelled ? "Stopped" : errorText(error);
      replace(progress, text);
      announce(text);
    }
    if (running === controller) {
      running = null;
      stop.hidden = true;
    }
  };

  const menu = menuButton(
    "Download",
    FORMATS.map((format) => ({ label: format.label, chosen: () => void start(format) })),
    icon("M8 2v8M4.8 7 8 10.2 11.2 7M3 13.2h10"),
  );
  return element("div", { class: "download" }, progress, stop, menu);
}

/** A button that opens a menu of actions. */
export function menuButton(label: string, items: { label: string; chosen: () => void }[], ...children: Node[]): HTMLElement {
  const list = element("div", { class: "menu", role: "menu", hidden: true, "aria-label": label });
  const close = (focus: boolean) => {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    if (focus) opener.focus();
  };
  const opener = element(
    "button",
    {
      type: "button",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      onclick: () => {
        if (!list.hidden) return close(false);
        list.hidden = false;
        opener.setAttribute("aria-expanded", "true");
        (list.firstElementChild as HTMLElement | null)?.focus();
      },
    },
    ...children,
    element("span", {}, label),
  );
  for (const item of items) {
    list.append(
      element("button", { type: "button", role: "menuitem", tabindex: -1, onclick: () => (close(true), item.chosen()) }, item.label),
    );
  }
  list.addEventListener("keydown", (event) => {
    const nodes = [...list.children] as HTMLElement[];
    const at = nodes.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      close(true);
    } else if (next !== undefined) {
      event.preventDefault();
      nodes[(next + nodes.length) % nodes.length]?.focus();
    }
  });
  const whole = element("div", { class: "menu-holder" }, opener, list);
  whole.addEventListener("focusout", (event) => {
    if (!whole.contains(event.relatedTarget as Node | null)) close(false);
  });
  return whole;
}

function save(blob: Blob, file: string): void {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "rows";
}
