/** Tabs as ARIA wants them: one is in the tab order, the arrow keys go from one to the next. */

import { element } from "./element";

export interface Tab {
  id: string;
  label: string;
  title?: string;
  panel: HTMLElement;
  shown?: () => void;
}

export class Tabs {
  readonly list: HTMLElement;
  private readonly buttons = new Map<string, HTMLButtonElement>();
  selected = "";

  constructor(
    label: string,
    private readonly tabs: Tab[],
    private readonly changed?: (id: string) => void,
  ) {
    const prefix = `tabs${++sets}`;
    this.list = element("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event: KeyboardEvent) => this.key(event) });
    for (const tab of tabs) {
      const id = `${prefix}-${tab.id}`;
      const node = element(
        "button",
        {
          type: "button",
          role: "tab",
          id,
          title: tab.title,
          "aria-controls": `${id}-panel`,
          onclick: () => this.select(tab.id),
        },
        tab.label,
      );
      tab.panel.id = `${id}-panel`;
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("aria-labelledby", id);
      this.buttons.set(tab.id, node);
      this.list.append(node);
    }
  }

  select(id: string, focus = false): void {
    const tab = this.tabs.find((candidate) => candidate.id === id);
    if (!tab) return;
    this.selected = id;
    for (const other of this.tabs) {
      const chosen = other === tab;
      const node = this.buttons.get(other.id)!;
      node.setAttribute("aria-selected", String(chosen));
      node.tabIndex = chosen ? 0 : -1;
      other.panel.hidden = !chosen;
    }
    const node = this.buttons.get(id)!;
    if (focus) node.focus();
    // Not scrollIntoView: it would scroll the page as well.
    const { list } = this;
    list.scrollLeft = Math.min(node.offsetLeft - list.offsetLeft, Math.max(list.scrollLeft, node.offsetLeft - list.offsetLeft + node.offsetWidth - list.clientWidth));
    tab.shown?.();
    this.changed?.(id);
  }

  private key(event: KeyboardEvent): void {
    const ids = this.tabs.map(({ id }) => id);
    const at = ids.indexOf(this.selected);
    const next = {
      ArrowRight: (at + 1) % ids.length,
      ArrowLeft: (at + ids.length - 1) % ids.length,
      Home: 0,
      End: ids.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.select(ids[next]!, true);
  }
}

let sets = 0;
