/** The list of tables at the side. */

import type { Catalog } from "./api";
import { element, replace } from "./element";
import { isHome, tablePath, type TableName } from "./sql_text";
import { tableLink } from "./link";

export interface Listed extends TableName {
  format: string;
}

/** The tables of all schemas. A name may come with its schema in front or without. */
export function listed(catalog: Catalog): Listed[] {
  return catalog.schemas.flatMap((schema) =>
    schema.tables.map((table) => {
      const prefix = `${schema.name}.`;
      const name = !isHome(schema.name) && table.name.startsWith(prefix) ? table.name.slice(prefix.length) : table.name;
      return { schema: schema.name, name, format: table.format };
    }),
  );
}

export class TablesList {
  readonly element: HTMLElement;
  private readonly search = element("input", {
    type: "search",
    placeholder: "Find a table",
    "aria-label": "Find a table",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => this.draw(),
    onkeydown: (event: KeyboardEvent) => this.fromSearch(event),
  });
  private readonly list = element("div", { class: "tables-list", onkeydown: (event: KeyboardEvent) => this.fromList(event) });
  private readonly closed = new Set<string>();
  private tables: Listed[] = [];
  private schemas: string[] = [];
  private current = "";

  constructor() {
    this.element = element("nav", { class: "tables", id: "tables", "aria-label": "Tables" }, element("div", { class: "tables-search" }, this.search), this.list);
  }

  show(catalog: Catalog): void {
    this.tables = listed(catalog);
    this.schemas = catalog.schemas.map(({ name }) => name);
    this.draw();
  }

  fail(message: string, retry: () => void): void {
    replace(this.list, element("div", { class: "tables-none", role: "alert" }, message, element("button", { type: "button", onclick: retry }, "Try again")));
  }

  mark(path: string): void {
    this.current = path;
    for (const link of this.list.querySelectorAll("a")) {
      if (link.dataset["path"] === path) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  focus(): void {
    this.search.focus();
  }

  private draw(): void {
    const wanted = this.search.value.trim().toLowerCase();
    const found = this.tables.filter((table) => tablePath(table).toLowerCase().includes(wanted));
    const groups = this.schemas.map((schema) => this.group(schema, found.filter((table) => table.schema === schema), wanted !== ""));
    const none = this.tables.length === 0 ? "There are no tables in what is served." : "No table has that in its name.";
    replace(this.list, ...groups, found.length === 0 && element("p", { class: "tables-none" }, none));
    this.mark(this.current);
  }

  private group(schema: string, tables: Listed[], searching: boolean): HTMLElement | null {
    if (tables.length === 0) return null;
    const details = element("details", {
      open: searching || !this.closed.has(schema),
      ontoggle: () => {
        if (this.search.value.trim() !== "") return;
        if (details.open) this.closed.delete(schema);
        else this.closed.add(schema);
      },
    });
    details.append(
      element("summary", {}, element("span", { class: "schema-name" }, schema), element("span", { class: "schema-count" }, String(tables.length))),
      element(
        "ul",
        {},
        ...tables.map((table) => {
          const path = tablePath(table);
          return element(
            "li",
            {},
            element(
              "a",
              { href: tableLink(path), "data-path": path, title: path },
              element("span", { class: "table-name" }, table.name),
              element("span", { class: "table-format" }, table.format),
            ),
          );
        }),
      ),
    );
    return details;
  }

  private fromSearch(event: KeyboardEvent): void {
    const first = this.list.querySelector("a");
    if (event.key === "ArrowDown" && first) {
      event.preventDefault();
      first.focus();
    } else if (event.key === "Enter" && first) {
      first.click();
    }
  }

  private fromList(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const links = [...this.list.querySelectorAll<HTMLElement>("a, summary")].filter((node) => node.offsetParent !== null);
    const at = links.indexOf(document.activeElement as HTMLElement);
    event.preventDefault();
    const next = links[at + step];
    if (next) next.focus();
    else if (step < 0) this.search.focus();
  }
}
