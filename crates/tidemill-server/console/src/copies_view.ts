/** The list of copies: how far they are, how they ended, and what they are stopped with. */

import { errorText, type Copy } from "./api";
import type { Copies } from "./copies";
import { button, element, replace } from "./element";
import { errorBox, errorParts } from "./error_box";
import { tableLink } from "./link";
import { announce } from "./status";
import { bytesText, count, counted, durationText } from "./value";

export class CopiesView {
  readonly element: HTMLElement;
  private readonly create: HTMLButtonElement;
  private readonly problem = element("div");
  private readonly list = element("ul", { class: "copies" });
  private readonly none = element("p", { class: "nothing" }, "Nothing was copied since the server started.");
  private readonly cards = new Map<string, Card>();

  /** `pathOf` gives the path of a table that a copy has made, while there is one. */
  constructor(
    private readonly copies: Copies,
    create: () => void,
    private readonly pathOf: (target: string) => string | null,
  ) {
    this.create = button("New copy…", { class: "primary", onclick: create });
    this.element = element(
      "section",
      { class: "list-view", "aria-label": "Copies" },
      element("div", { class: "table-head" }, element("h1", {}, "Copies"), element("div", { class: "actions" }, this.create)),
      this.problem,
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "List of copies" }, this.none, this.list),
    );
  }

  draw(): void {
    const { all, error } = this.copies;
    replace(this.problem, !!error && errorBox(error, button("Try again", { onclick: () => void this.copies.refresh() })));
    this.none.hidden = all.length > 0 || !!error;
    const focused = [...this.cards.values()].find(({ element }) => element.contains(document.activeElement));
    const at = focused ? [...this.list.children].indexOf(focused.element) : -1;
    for (const [id, card] of this.cards) {
      if (all.some((copy) => copy.id === id)) continue;
      card.element.remove();
      this.cards.delete(id);
    }
    all.forEach((copy, index) => {
      let card = this.cards.get(copy.id);
      if (!card) {
        card = new Card((one) => this.end(one));
        this.cards.set(copy.id, card);
      }
      card.show(copy, copy.state === "done" ? this.pathOf(copy.target) : null);
      // A node that stays where it is keeps the focus.
      if (this.list.children[index] !== card.element) this.list.insertBefore(card.element, this.list.children[index] ?? null);
    });
    // The focus does not get lost with the entry that it was on.
    if (focused && !focused.element.isConnected) (this.list.children[Math.min(at, this.list.children.length - 1)]?.querySelector("button") ?? this.create).focus();
  }

  private async end(copy: Copy): Promise<void> {
    try {
      await this.copies.end(copy);
    } catch (error) {
      announce(errorText(error));
      void this.copies.refresh();
    }
  }
}

class Card {
  readonly element: HTMLElement;
  private readonly names = element("p", { class: "copy-names" });
  private readonly state = element("span", { class: "copy-state" });
  private readonly action = button("Stop", { onclick: () => void this.act() });
  private readonly progress = element("progress", { "aria-label": "Rows copied" });
  private readonly facts = element("p", { class: "muted" });
  private readonly problem = element("div", { class: "copy-problem" });
  private drawn = "";
  private copy: Copy | null = null;
  private busy = false;

  constructor(private readonly end: (copy: Copy) => Promise<void>) {
    this.element = element("li", { class: "copy" }, element("div", { class: "copy-head" }, this.names, this.state, this.action), this.progress, this.facts, this.problem);
  }

  show(copy: Copy, path: string | null): void {
    if (this.copy && this.copy.state !== copy.state) this.busy = false;
    this.copy = copy;
    const running = copy.state === "running";
    const known = running && copy.expected !== null;
    const label = running ? (this.busy ? "Stopping…" : "Stop") : "Remove";
    if (this.action.textContent !== label) this.action.textContent = label;
    this.action.setAttribute("aria-label", `${label} the copy to ${copy.target}`);
    this.action.setAttribute("aria-disabled", String(this.busy));
    this.element.dataset["state"] = copy.state;
    replace(this.state, stateText(copy));
    this.progress.hidden = !known;
    if (known) {
      // An empty table has no share: the bar is full at once.
      this.progress.max = Math.max(1, copy.expected!);
      this.progress.value = copy.expected === 0 ? 1 : copy.rows;
    }
    replace(this.facts, factsText(copy));
    // What does not change stays: a link in it may have the focus.
    const drawn = JSON.stringify([copy.source, copy.target, path, copy.error]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    replace(
      this.names,
      element("span", { class: /\s/.test(copy.source) ? "copy-sql" : "copy-source", title: copy.source.slice(0, 600) }, copy.source.replace(/\s+/g, " ").slice(0, 300)),
      " → ",
      path ? element("a", { href: tableLink(path) }, copy.target) : element("strong", {}, copy.target),
    );
    replace(this.problem, copy.error && errorParts(copy.error.sqlstate, copy.error.message, copy.error.hint));
  }

  private async act(): Promise<void> {
    if (!this.copy || this.busy) return;
    this.busy = true;
    const { copy } = this;
    this.show(copy, null);
    await this.end(copy);
    if (copy.state !== "running") this.busy = false;
  }
}

function isVerifying({ state, rows, expected }: Copy): boolean {
  return state === "running" && rows === expected;
}

function stateText(copy: Copy): string {
  if (isVerifying(copy)) return "Verifying…";
  return { running: "Running", done: "Done", failed: "Failed", stopped: "Stopped" }[copy.state];
}

function factsText(copy: Copy): string {
  const { rows, expected, bytes, seconds, state } = copy;
  const share = expected ? ` (${Math.floor((100 * Math.min(rows, expected)) / expected)} %)` : "";
  return [
    state === "running" && expected !== null ? `${count(rows)} of ${counted(expected, "row")}${share}` : counted(rows, "row"),
    bytes === null ? "" : bytesText(bytes),
    // While the rows are compared none are written.
    isVerifying(copy) || seconds <= 0 || rows === 0 ? "" : `${count(rows / seconds)} rows/s`,
    seconds <= 0 ? "" : durationText(seconds * 1000),
    state === "done" ? verificationText(copy) : "",
  ].filter(Boolean).join(" · ");
}

function verificationText({ compared_columns: columns }: Copy): string {
  return columns === null ? "verified: the numbers of rows agree" : `verified: all values of ${counted(columns, "column")} agree`;
}
