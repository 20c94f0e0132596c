/** The page: a bar, the list of tables, and the editor, a table, the copies or the reports of load tests. */

import { errorText, reports, tables, type Catalog, type CopySource, type Report } from "./api";
import { Copies } from "./copies";
import { CopiesView } from "./copies_view";
import { openCopyDialog, sourceName, targets } from "./copy_dialog";
import { button, element, icon, replace, svg } from "./element";
import { errorBox } from "./error_box";
import { COPIES_LINK, place, REPORTS_LINK, sqlLink, tableLink } from "./link";
import { QueryView } from "./query_view";
import { reportsView, reportView } from "./reports_view";
import { isHome, setHome, tablePath } from "./sql_text";
import { Schema } from "./schema";
import { announce, say } from "./status";
import { TableView } from "./table_view";
import { TablesList } from "./tables_list";
import { themeSwitch } from "./theme";

const schema = new Schema();
const list = new TablesList();
const query = new QueryView(schema, () => (loaded = load()), (sql) => copy({ sql }));
const copies = new Copies(drawCopies, () => (loaded = load()), announce);
const copiesView = new CopiesView(copies, () => copy(null), madeTable);
const main = element("main", { id: "main" });
const version = element("span", { class: "version" });
const links = {
  sql: element("a", { class: "bar-link", href: "#" }, "SQL"),
  copies: element("a", { class: "bar-link", href: COPIES_LINK, hidden: true }, "Copies"),
  reports: element("a", { class: "bar-link", href: REPORTS_LINK, hidden: true }, "Load tests"),
};
const drawer = button("Tables", { class: "quiet drawer-button", "aria-expanded": "false", "aria-controls": "tables", onclick: () => openDrawer(!drawerOpen()) }, icon("M2.5 4h11M2.5 8h11M2.5 12h11"));
let shown: TableView | null = null;
let wanted = "";
let catalog: Catalog | null = null;
let copiesAsked = false;

const bar = element(
  "header",
  { class: "top-bar" },
  drawer,
  svg("svg", { viewBox: "0 0 32 32", class: "logo", "aria-hidden": "true" },
    svg("rect", { width: 32, height: 32, rx: 7, class: "logo-ground" }),
    svg("path", { class: "logo-wave", d: "M6 11.5c3.3-3 6.7-3 10 0s6.7 3 10 0M6 17c3.3-3 6.7-3 10 0s6.7 3 10 0M6 22.5c3.3-3 6.7-3 10 0s6.7 3 10 0" })),
  element("strong", { class: "brand" }, "Tidemill"),
  version,
  element("nav", { class: "bar-nav", "aria-label": "Views" }, ...Object.values(links)),
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
void loadReports().catch(() => undefined);
void route(false);

async function load(): Promise<void> {
  try {
    catalog = await tables();
    version.textContent = catalog.version;
    if (catalog.default) setHome(catalog.default);
    schema.set(catalog);
    list.show(catalog);
    const canCopy = targets(catalog).length > 0;
    links.copies.hidden = !canCopy;
    document.body.classList.toggle("can-copy", canCopy);
    if (canCopy && !copiesAsked) {
      copiesAsked = true;
      void copies.refresh();
    }
    drawCopies();
  } catch (error) {
    list.fail(errorText(error), () => (loaded = load()));
  }
}

async function loadReports(): Promise<Report[]> {
  const found = await reports();
  links.reports.hidden = found.length === 0;
  return found;
}

/** Shows what the address says. */
async function route(moved: boolean): Promise<void> {
  const where = place(window.location.hash);
  openDrawer(false);
  if (where.kind === "table") return showTable(where.path, where.tab);
  leaveTable();
  list.mark("");
  if (where.kind === "copies") return showCopies();
  if (where.kind === "reports") return showReports(where.name);
  wanted = "";
  document.title = "Tidemill";
  markLink("sql");
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
  markLink(null);
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
      (table) => copy({ table }),
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

async function showCopies(): Promise<void> {
  begin(COPIES_LINK, "copies", "Copies");
  await loaded;
  if (wanted !== COPIES_LINK) return;
  if (targets(catalog).length === 0) return replace(main, element("p", { class: "nothing" }, "No copies can be made: there is no schema that you may write to."));
  replace(main, copiesView.element);
  drawCopies();
  // Other users and other windows start copies too.
  void copies.refresh();
}

async function showReports(name: string | null): Promise<void> {
  const here = window.location.hash;
  begin(here, "reports", name ?? "Load tests");
  try {
    // The list is small, and tests end while the page is open.
    const found = await loadReports();
    if (wanted !== here) return;
    const one = found.find((report) => report.name === name);
    if (one) replace(main, reportView(one));
    else if (name !== null) replace(main, errorBox(new Error(`There is no report ${name}`), element("a", { href: REPORTS_LINK }, "All load tests")));
    else if (found.length === 0) replace(main, element("p", { class: "nothing" }, "There are no reports of load tests."));
    else replace(main, reportsView(found));
  } catch (error) {
    if (wanted === here) replace(main, errorBox(error, button("Try again", { onclick: () => void showReports(name) })));
  }
}

/** Leaves the editor for another view, which comes later. */
function begin(place: string, link: keyof typeof links, title: string): void {
  wanted = place;
  query.element.hidden = true;
  markLink(link);
  document.title = `${title} · Tidemill`;
  replace(main, element("p", { class: "nothing" }, `Opening ${title}…`));
  say(title);
}

function markLink(current: keyof typeof links | null): void {
  for (const [name, link] of Object.entries(links)) {
    if (name === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Asks how to copy something, and shows the copies then. */
function copy(source: CopySource | null): void {
  if (!catalog) return;
  const started = (target: string) => {
    announce(`Copying to ${target}`);
    window.location.hash = COPIES_LINK;
    main.focus();
  };
  openCopyDialog(catalog, source, (order) => copies.start(order), started);
}

function drawCopies(): void {
  const { running } = copies;
  replace(links.copies, "Copies", running > 0 && element("span", { class: "bar-count" }, String(running), element("span", { class: "off-screen" }, " running")));
  copiesView.draw();
}

/** The path of the table that a copy has made, if there is one. */
function madeTable(target: string): string | null {
  const found = schema.all().find((table) => sourceName(table) === target);
  return found ? tablePath(found) : null;
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
