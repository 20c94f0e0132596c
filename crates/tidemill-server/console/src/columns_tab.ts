/** The columns of a table, with what they hold. */

import { errorText, type Column, type TableDetail } from "./api";
import { button, element, replace, svg } from "./element";
import { statistics, type Statistics } from "./statistics";
import { cellContent, count, valueText } from "./value";

export class ColumnsTab {
  readonly element: HTMLElement;
  private readonly cells = new Map<Column, HTMLElement[]>();
  private readonly note = element("span", { class: "muted", role: "status" });
  private readonly compute = button("Compute statistics", { onclick: () => void this.start() });
  private running: AbortController | null = null;
  private done = false;

  constructor(
    private readonly tableSql: string,
    private readonly detail: TableDetail,
  ) {
    const body = element("tbody");
    for (const column of detail.columns) {
      const cells = ["nulls number", "distinct number", `least of-${column.type}`, `highest of-${column.type}`, "distribution"].map((name) => element("td", { class: name }));
      this.cells.set(column, cells);
      body.append(
        element(
          "tr",
          {},
          element("th", { scope: "row" }, column.name),
          element("td", { class: "type" }, column.type, element("span", { class: "arrow-type" }, column.arrow)),
          ...cells,
        ),
      );
    }
    const heads = ["Column", "Type", "NULLs", "Distinct", "Least", "Highest", "Distribution"];
    this.element = element(
      "div",
      { class: "panel columns-panel" },
      element("div", { class: "columns-bar" }, this.compute, this.note),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" },
        element(
          "table",
          { class: "columns-table" },
          element("thead", {}, element("tr", {}, ...heads.map((head, index) => element("th", { scope: "col", class: index === 2 || index === 3 ? "number" : null }, head)))),
          body,
        ),
      ),
    );
  }

  /** Small tables are read without being asked. */
  shown(): void {
    const { rows } = this.detail;
    const columns = this.detail.columns.length;
    if (this.done || this.running || rows === null) return;
    if (columns <= COLUMNS_WITHOUT_ASKING && rows * columns <= CELLS_WITHOUT_ASKING) void this.start();
  }

  stop(): void {
    this.running?.abort();
  }

  private async start(): Promise<void> {
    if (this.running) return this.stop();
    const controller = new AbortController();
    this.running = controller;
    this.compute.textContent = "Stop";
    let at = 0;
    let failed = 0;
    for (const [column, cells] of this.cells) {
      at += 1;
      replace(this.note, `Reading ${column.name}, ${at} of ${this.cells.size}`);
      try {
        fill(cells, column, await statistics(this.tableSql, column, controller.signal));
      } catch (error) {
        if (controller.signal.aborted) break;
        failed += 1;
        replace(cells[4]!, element("span", { class: "error-text" }, errorText(error)));
      }
    }
    const stopped = controller.signal.aborted;
    this.running = null;
    this.done = !stopped && failed === 0;
    this.compute.textContent = this.done ? "Compute again" : "Compute statistics";
    replace(this.note, stopped ? "Stopped" : failed > 0 ? `${failed} of ${this.cells.size} columns could not be read` : "");
  }
}

const CELLS_WITHOUT_ASKING = 1_000_000;
const COLUMNS_WITHOUT_ASKING = 64;

function fill(cells: HTMLElement[], column: Column, facts: Statistics): void {
  const [nulls, distinct, least, highest, distribution] = cells as [HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];
  const empty = facts.rows === facts.nulls;
  const share = facts.nulls > 0 && facts.rows > 0 ? ` (${percent(facts.nulls / facts.rows)})` : "";
  replace(nulls, count(facts.nulls), share && element("span", { class: "muted" }, share));
  replace(distinct, facts.distinct === null ? "" : count(facts.distinct));
  for (const [cell, value] of [[least, facts.least], [highest, facts.highest]] as const) {
    replace(cell, empty || facts.distinct === null ? null : cellContent(value));
    cell.title = empty ? "" : valueText(value).slice(0, 400);
  }
  replace(distribution, facts.histogram ? histogram(column, facts.histogram) : facts.frequent ? frequent(facts.frequent, facts.rows - facts.nulls) : null);
}

function histogram(column: Column, buckets: NonNullable<Statistics["histogram"]>): SVGSVGElement {
  const highest = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const width = HISTOGRAM_WIDTH / buckets.length;
  const bars = buckets.map((bucket, index) => {
    const height = bucket.count === 0 ? 0 : Math.max(1.5, (bucket.count / highest) * HISTOGRAM_HEIGHT);
    const range = bucket.from === bucket.to ? bucket.from : `${bucket.from} to ${bucket.to}`;
    return svg(
      "g",
      {},
      svg("title", {}, `${range}: ${count(bucket.count)}`),
      svg("rect", { class: "hit", x: index * width, y: 0, width, height: HISTOGRAM_HEIGHT }),
      svg("rect", { class: "bar", x: index * width + 0.5, y: HISTOGRAM_HEIGHT - height, width: Math.min(40, width - 1), height }),
    );
  });
  const parts = buckets.map((bucket) => bucket.count).join(", ");
  return svg(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${HISTOGRAM_WIDTH} ${HISTOGRAM_HEIGHT + 1}`,
      width: HISTOGRAM_WIDTH,
      height: HISTOGRAM_HEIGHT + 1,
      role: "img",
      "aria-label": `Histogram of ${column.name}: ${parts}`,
    },
    svg("line", { class: "base", x1: 0, x2: HISTOGRAM_WIDTH, y1: HISTOGRAM_HEIGHT + 0.5, y2: HISTOGRAM_HEIGHT + 0.5 }),
    ...bars,
  );
}

function frequent(values: NonNullable<Statistics["frequent"]>, all: number): HTMLElement {
  if (values.length > 1 && values[0]!.count === 1) return element("span", { class: "muted" }, "All values differ");
  return element(
    "ul",
    { class: "frequent", "aria-label": "Most frequent values" },
    ...values.map(({ value, count: number }) => {
      const bar = element("span", { class: "frequent-bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * number) / Math.max(1, values[0]!.count)}%`;
      return element(
        "li",
        { title: `${valueText(value).slice(0, 400)}: ${count(number)} (${percent(number / all)})` },
        element("span", { class: "frequent-value" }, cellContent(value)),
        element("span", { class: "frequent-track" }, bar),
        element("span", { class: "frequent-count" }, count(number)),
      );
    }),
  );
}

function percent(share: number): string {
  const hundred = share * 100;
  if (hundred > 0 && hundred < 0.1) return "< 0.1%";
  return `${hundred < 10 && hundred !== Math.round(hundred) ? hundred.toFixed(1) : Math.round(hundred)}%`;
}

const HISTOGRAM_WIDTH = 192;
const HISTOGRAM_HEIGHT = 34;
