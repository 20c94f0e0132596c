/** One table: its columns with statistics, its rows, and what `tidemill inspect` says. */

import { errorText, run, type TableDetail } from "./api";
import { ColumnsTab } from "./columns_tab";
import { copyButton, sourceName } from "./copy_dialog";
import { downloadMenu } from "./download";
import { button, element, icon, replace } from "./element";
import { Grid } from "./grid";
import { Pages } from "./pages";
import { tablePath, tableSql, type TableName } from "./sql_text";
import { Tabs } from "./tabs";
import { bytesText, count, counted } from "./value";

export class TableView {
  readonly element: HTMLElement;
  readonly path: string;
  private readonly tabs: Tabs;
  private readonly sql: string;
  private readonly facts = element("p", { class: "facts" });
  private readonly columns: ColumnsTab;
  private readonly rowsPanel = element("div", { class: "panel rows-panel" });
  private readonly withDeleted = element("input", { type: "checkbox", onchange: () => this.switchDeleted() });
  private readonly deletedLabel = element("span");
  private readonly rowsBar = element("div", { class: "rows-bar", hidden: true }, element("label", {}, this.withDeleted, this.deletedLabel));
  private readonly rowsBody = element("div", { class: "panel" });
  private pages: Pages | null = null;
  private readonly leaving = new AbortController();

  constructor(
    name: TableName,
    private readonly detail: TableDetail,
    query: (sql: string) => void,
    copy: (table: string) => void,
    tabChanged: (tab: string) => void,
  ) {
    this.path = tablePath(name);
    this.sql = tableSql(name);
    this.columns = new ColumnsTab(this.sql, detail);
    this.rowsPanel.append(this.rowsBar, this.rowsBody);
    const info = element("div", { class: "panel info-panel" }, element("pre", { tabindex: 0, "aria-label": "What inspect says" }, detail.inspect));
    this.tabs = new Tabs(
      `Table ${this.path}`,
      [
        { id: "columns", label: "Columns", panel: this.columns.element, shown: () => this.columns.shown() },
        { id: "rows", label: "Rows", panel: this.rowsPanel, shown: () => this.showRows() },
        { id: "info", label: "Info", panel: info },
      ],
      tabChanged,
    );
    const select = `SELECT * FROM ${this.sql}`;
    this.element = element(
      "section",
      { class: "table-view", "aria-label": `Table ${this.path}` },
      element(
        "div",
        { class: "table-head" },
        element("h1", {}, this.path),
        this.facts,
        element(
          "div",
          { class: "actions" },
          button("Query", { title: "Put a SELECT over this table into the editor", onclick: () => query(`${select} LIMIT 100`) }, icon("M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5"), element("span", {}, "Query")),
          copyButton(() => copy(sourceName(name))),
          downloadMenu(select, this.path),
        ),
      ),
      this.tabs.list,
      this.columns.element,
      this.rowsPanel,
      info,
    );
    this.showFacts(detail.rows);
    if (detail.rows === null) void this.countRows();
  }

  show(tab: string | null): void {
    this.tabs.select(tab && ["columns", "rows", "info"].includes(tab) ? tab : this.tabs.selected || "columns");
  }

  /** Ends the statements that still run for this table. */
  leave(): void {
    this.leaving.abort();
    this.columns.stop();
    this.pages?.stop();
  }

  private showFacts(rows: number | null): void {
    const { detail } = this;
    const deleted = rows === null ? 0 : Math.max(0, (detail.records ?? 0) - rows);
    this.rowsBar.hidden = deleted === 0 && !this.withDeleted.checked;
    replace(this.deletedLabel, `Show deleted records (${count(deleted)})`);
    replace(
      this.facts,
      [
        detail.format,
        rows === null ? "" : counted(rows, "row"),
        deleted === 0 ? "" : `${count(deleted)} deleted`,
        counted(detail.columns.length, "column"),
        detail.bytes === null ? "" : bytesText(detail.bytes),
      ].filter(Boolean).join(" · "),
    );
  }

  private async countRows(): Promise<number | null> {
    try {
      const [answer] = await run(`SELECT COUNT(*) AS n FROM ${this.sql}`, 1, this.leaving.signal);
      const rows = Number(answer?.rows[0]?.[0] ?? 0);
      this.detail.rows = rows;
      this.showFacts(rows);
      if (this.tabs.selected === "columns") this.columns.shown();
      return rows;
    } catch (error) {
      if (!this.leaving.signal.aborted) this.rowsError(error, () => this.showRows());
      return null;
    }
  }

  private showRows(): void {
    if (this.pages) return;
    const rows = this.detail.rows;
    if (rows === null) {
      replace(this.rowsBody, element("p", { class: "waiting" }, "Counting the rows…"));
      void this.countRows().then((counted) => counted !== null && this.showRows());
      return;
    }
    const deleted = this.withDeleted.checked;
    const length = deleted ? (this.detail.records ?? rows) : rows;
    const pages: Pages = new Pages(
      this.detail.columns,
      length,
      this.sql,
      () => {
        if (!deleted && pages.length !== this.detail.rows) {
          this.detail.rows = pages.length;
          this.showFacts(pages.length);
        }
        this.rowsBody.querySelector(".error")?.remove();
        grid.refresh();
      },
      (error) => this.rowsError(error, () => pages.retry()),
      deleted,
    );
    const grid = new Grid(pages, deleted ? `${count(length)} records of ${this.path}, deleted ones too` : `${count(length)} rows of ${this.path}`);
    this.pages = pages;
    replace(this.rowsBody, grid.element);
  }

  private switchDeleted(): void {
    this.pages?.stop();
    this.pages = null;
    this.showRows();
  }

  private rowsError(error: unknown, retry: () => void): void {
    this.rowsBody.querySelector(".error")?.remove();
    this.rowsBody.querySelector(".waiting")?.remove();
    const bar = element("div", { class: "error", role: "alert" }, element("p", {}, errorText(error)), button("Try again", { onclick: () => (bar.remove(), retry()) }));
    this.rowsBody.prepend(bar);
  }
}
