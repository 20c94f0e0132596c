/** One value in full. */

import type { Column, Value } from "./api";
import { openDialog } from "./dialog";
import { button, element } from "./element";
import { announce } from "./status";
import { counted, valueText } from "./value";

export function showValue(column: Column, value: Value | undefined, place: string): void {
  const text = valueText(value);
  const none = value === null || value === undefined;
  const bytes = column.type === "binary" && text.startsWith("\\x");
  const size = none ? "" : bytes ? `, ${counted((text.length - 2) / 2, "byte")}` : `, ${counted([...text].length, "character")}`;
  const content = element("pre", { class: none ? "value-text null" : "value-text", tabindex: 0 }, text);
  openDialog(
    column.name,
    element("p", { class: "muted" }, `${column.arrow}, ${place}${size}`),
    content,
    none ? null : button("Copy", { onclick: () => void copyText(text) }),
  );
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
