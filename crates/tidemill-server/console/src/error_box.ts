/** An error of the server, for the reader. */

import { ApiError } from "./api";
import { element, type Child } from "./element";

export function errorBox(error: unknown, ...actions: Child[]): HTMLElement {
  const known = error instanceof ApiError ? error : null;
  const box = errorParts(known?.sqlstate ?? null, error instanceof Error ? error.message : String(error), known?.hint ?? null, ...actions);
  box.setAttribute("role", "alert");
  return box;
}

/** For errors of before, which are not to be read out when they are shown. */
export function errorParts(sqlstate: string | null, message: string, hint: string | null, ...actions: Child[]): HTMLElement {
  return element(
    "div",
    { class: "error" },
    sqlstate && element("code", { class: "sqlstate", title: "SQLSTATE" }, sqlstate),
    element("p", {}, message),
    hint && element("p", { class: "error-hint" }, hint),
    ...actions,
  );
}
