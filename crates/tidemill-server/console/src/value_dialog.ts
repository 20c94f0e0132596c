/** One value in full. */

import type { Column, Value } from "./api";
import { button, element } from "./element";
import { announce } from "./status";
import { count, counted, valueText } from "./value";

export function showValue(column: Column, value: Value | undefined, row: number): void {
  const text = valueText(value);
  const none = value === null || value === undefined;
  const bytes = column.type === "binary" && text.startsWith("\\x");
  const size = none ? "" : bytes ? `, ${counted((text.length - 2) / 2, "byte")}` : `, ${counted([...text].length, "character")}`;
  const content = element("pre", { class: none ? "value-text null" : "value-text", tabindex: 0 }, text);
  openDialog(
    column.name,
    element("p", { class: "muted" }, `${column.arrow}, row ${count(row + 1)}${size}`),
    content,
    none ? null : button("Copy", { onclick: () => void copyText(text) }),
  );
}

/** Shows a modal dialog. Esc, its button and a click outside close it; the focus goes back to where it was. */
export function openDialog(title: string, ...content: (Node | null)[]): HTMLDialogElement {
  const heading = element("h2", { id: "dialog-title" }, title);
  const close = button("Close", { class: "primary", onclick: () => dialog.close() });
  const actions = element("div", { class: "dialog-actions" }, ...content.filter(isButton), close);
  const dialog: HTMLDialogElement = element(
    "dialog",
    {
      "aria-labelledby": "dialog-title",
      onclose: () => dialog.remove(),
      onclick: (event: MouseEvent) => event.target === dialog && dialog.close(),
    },
    element("div", { class: "dialog-body" }, heading, ...content.filter((node) => !isButton(node)), actions),
  );
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
  return dialog;
}

/** Copies a text. Browsers keep the clipboard from pages that come by plain HTTP from another machine: an old way is tried there. */
export async function copyText(text: string): Promise<boolean> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const area = element("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    const focused = document.activeElement as HTMLElement | null;
    area.select();
    done = document.execCommand("copy");
    area.remove();
    focused?.focus();
  }
  announce(done ? "Copied" : "This browser does not let the page copy");
  return done;
}

function isButton(node: Node | null): boolean {
  return node instanceof HTMLButtonElement;
}
