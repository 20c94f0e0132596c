/** The page: a bar, the list of tables, and the editor or a table. */

import { errorText, tables } from "./api";
import { button, element, icon, replace, svg } from "./element";
import { place, sqlLink, tableLink } from "./link";
import { QueryView } from "./query_view";
import { isHome, setHome } from "./sql_text";
import { Schema } from "./schema";
import { say } from "./status";
import { TableView } from "./table_view";
import { TablesList } from "./tables_list";
import { themeSwitch } from "./theme";

const schema = new Schema();
const list = new TablesList();
const query = new QueryView(schema, () => (loaded = load()));
const main = element("main", { id: "main" });
const version = element("span", { class: "version" });
const sqlLinkNode = element("a", { class: "bar-link", href: "#" }, "SQL");
const drawer = button("Tables", { class: "quiet drawer-button", "aria-expanded": "false", "aria-controls": "tables", onclick: () => openDrawer(!drawerOpen()) }, icon("M2.5 4h11M2.5 8h11M2.5 12h11"));
let shown: TableView | null = null;
let wanted = "";

const bar = element(
  "header",
  { class: "top-bar" },
  drawer,
  svg("svg", { viewBox: "0 0 32 32", class: "logo", "aria-hidden": "true" },
    svg("rect", { width: 32, height: 32, rx: 7, class: "logo-ground" }),
    svg("path", { class: "logo-wave", d: "M6 11.5c3.3-3 6.7-3 10 0s6.7 3 10 0M6 17c3.3-3 6.7-3 10 0s6.7 3 10 0M6 22.5c3.3-3 6.7-3 10 0s6.7 3 10 0" })),
  element("strong", { class: "brand" }, "Tidemill"),
  version,
  element("nav", { class: "bar-nav", "aria-label": "Views" }, sqlLinkNode),
  themeSwitch(),
);

document.body.prepend(
  element("a", { class: "skip", href: "#main", onclick: (event: Event) => (event.preventDefault(), main.focus()) }, "Skip to the content"),
  bar,
  element("div", { class: "columns" }, list.element, element("div", { class: "backdrop", onclick: () => openDrawer(false) }), main),
);
main.tabIndex = -1;
window.addEventListener("hashchange", () => void route(true));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawerOpen()) {
    event.preventDefault();
    openDrawer(false);
    drawer.focus();
  }
}, true);
let loaded = load();
void route(false);

async function load(): Promise<void> {
  try {
    const catalog = await tables();
    version.textContent = catalog.version;
    if (catalog.default) setHome(catalog.default);
    schema.set(catalog);
    list.show(catalog);
  } catch (error) {
    list.fail(errorText(error), () => (loaded = load()));
  }
}

/** Shows what the address says. */
async function route(moved: boolean): Promise<void> {
  const where = place(window.location.hash);
  openDrawer(false);
  if (where.kind === "table") return showTable(where.path, where.tab);
  wanted = "";
  leaveTable();
  list.mark("");
  document.title = "Tidemill";
  sqlLinkNode.setAttribute("aria-current", "page");
  query.element.hidden = false;
  replace(main, query.element);
  query.editor.measure();
  // A link carries text for the editor. What it says is not run: links come from anywhere.
  if (where.sql !== null) query.editor.text = where.sql;
  if (moved) query.editor.focus();
}

async function showTable(path: string, tab: string | null): Promise<void> {
  if (shown?.path === path) return shown.show(tab);
  wanted = path;
  leaveTable();
  query.element.hidden = true;
  sqlLinkNode.removeAttribute("aria-current");
  list.mark(path);
  document.title = `${path} · Tidemill`;
  const waiting = element("p", { class: "nothing" }, `Opening ${path}…`);
  replace(main, waiting);
  try {
    // Which schema needs no name is in the list.
    await loaded;
    if (wanted !== path) return;
    schema.forget(path);
    const detail = await schema.detailOf(path);
    if (wanted !== path) return;
    const prefix = `${detail.schema}.`;
    const name = !isHome(detail.schema) && detail.name.startsWith(prefix) ? detail.name.slice(prefix.length) : detail.name;
    shown = new TableView(
      { schema: detail.schema, name },
      detail,
      (sql) => (window.location.hash = sqlLink(sql)),
      (chosen) => window.history.replaceState(null, "", tableLink(path, chosen)),
    );
    replace(main, shown.element);
    shown.show(tab);
    say(`Table ${path}`);
  } catch (error) {
    if (wanted !== path) return;
    replace(main, element("div", { class: "error", role: "alert" }, element("p", {}, errorText(error)), button("Try again", { onclick: () => void showTable(path, tab) })));
  }
}

function leaveTable(): void {
  shown?.leave();
  shown = null;
}

function drawerOpen(): boolean {
  return document.body.classList.contains("drawer-open");
}

function openDrawer(open: boolean): void {
  if (open === drawerOpen()) return;
  document.body.classList.toggle("drawer-open", open);
  drawer.setAttribute("aria-expanded", String(open));
  if (open) list.focus();
}
