/** Modal dialogs. */

import { button, element, type Child } from "./element";

/** Shows something. Esc, its button and a click outside close it; the focus goes back to where it was. */
export function openDialog(title: string, ...content: (Node | null)[]): HTMLDialogElement {
  const close = button("Close", { class: "primary", onclick: () => dialog.close() });
  const dialog = modal(
    title,
    element("div", { class: "dialog-body" }, heading(title), ...content.filter((node) => !isButton(node)), element("div", { class: "dialog-actions" }, ...content.filter(isButton), close)),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  close.focus();
  return dialog;
}

/** Asks for something. A click outside does not close it: what was filled in would be lost. */
export function openForm(title: string, submit: string, submitted: () => void, ...content: Child[]): HTMLDialogElement {
  const form = element(
    "form",
    {
      class: "dialog-body",
      onsubmit: (event: Event) => {
        event.preventDefault();
        submitted();
      },
    },
    heading(title),
    element("div", { class: "fields" }, ...content),
    element("div", { class: "dialog-actions" }, button("Cancel", { onclick: () => dialog.close() }), element("button", { type: "submit", class: "primary" }, submit)),
  );
  const dialog = modal(title, form);
  return dialog;
}

function modal(title: string, body: HTMLElement): HTMLDialogElement {
  const dialog: HTMLDialogElement = element("dialog", { "aria-label": title, onclose: () => dialog.remove() }, body);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function heading(title: string): HTMLElement {
  return element("h2", {}, title);
}

function isButton(node: Node | null): boolean {
  return node instanceof HTMLButtonElement;
}
