/** A table of any length: only the cells in view are in the document. */

import type { Column, Value } from "./api";
import { element } from "./element";
import { Scale } from "./scale";
import { cellContent, count, isLong, isNumeric, valueText } from "./value";
import { copyText, showValue } from "./value_dialog";

export interface Rows {
  readonly columns: Column[];
  readonly length: number;
  /** A row, or nothing while it is on its way. */
  row(index: number): Value[] | undefined;
  /** Whether a row is a deleted record. */
  deleted?(index: number): boolean;
  /** Says which rows are in view. */
  inView?(first: number, last: number): void;
}

export class Grid {
  readonly element: HTMLElement;
  private readonly sizer = element("div", { class: "grid-sizer", role: "presentation" });
  private readonly header = element("div", { class: "grid-header", role: "row", "aria-rowindex": 1 });
  private readonly drawn = new Map<number, HTMLElement>();
  private readonly widths: number[];
  private lefts: number[] = [];
  private gutter = 0;
  private scale = new Scale(0, 0);
  private top = 0;
  private lastReal = 0;
  private settle: number | undefined;
  private frame: number | undefined;
  private window = "";
  private active = { row: 0, column: 0 };
  private measured = false;
  private readonly resized = new Set<number>();
  private readonly id = `grid${++grids}`;

  constructor(
    private readonly rows: Rows,
    label: string,
  ) {
    this.widths = rows.columns.map((column) => headerWidth(column));
    this.element = element(
      "div",
      {
        class: "grid",
        role: "grid",
        tabindex: 0,
        "aria-label": label,
        "aria-colcount": rows.columns.length + 1,
        "aria-readonly": "true",
        onscroll: () => this.scrolled(),
        onkeydown: (event: KeyboardEvent) => this.key(event),
        onclick: (event: MouseEvent) => this.clicked(event),
        ondblclick: (event: MouseEvent) => this.doubleClicked(event),
      },
      this.header,
      this.sizer,
    );
    new ResizeObserver(() => this.refresh()).observe(this.element);
    this.refresh();
  }

  /** Draws again after the rows, or their number, have changed. */
  refresh(): void {
    const view = Math.max(0, this.element.clientHeight - HEADER_HEIGHT);
    this.scale = new Scale(this.rows.length * ROW_HEIGHT, view);
    this.top = Math.min(this.top, this.scale.virtualEnd);
    this.element.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.fitWidths();
    this.layOut();
    this.window = "";
    // A grid that was out of the document comes back with its scroll bar at the top.
    if (view > 0 && this.element.scrollTop !== this.lastReal) {
      this.element.scrollTop = Math.round(this.scale.toReal(this.top));
      this.lastReal = this.element.scrollTop;
    }
    this.schedule();
  }

  private schedule(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  /** Takes the widths of the columns from the first rows that have come. Later ones only widen columns of short values. */
  private fitWidths(): void {
    const first = this.measured ? Math.floor(this.top / ROW_HEIGHT) : 0;
    const sample: Value[][] = [];
    for (let index = first; index < Math.min(this.rows.length, first + SAMPLE_ROWS); index++) {
      const row = this.rows.row(index);
      if (row) sample.push(row);
    }
    if (sample.length === 0) return;
    const cut: { index: number; missing: number }[] = [];
    this.rows.columns.forEach((column, index) => {
      const long = column.type === "text" || column.type === "binary";
      if (this.resized.has(index) || (this.measured && long)) return;
      let width = this.widths[index]!;
      for (const row of sample) {
        const text = valueText(row[index]).slice(0, SAMPLE_CHARACTERS);
        width = Math.max(width, Math.ceil(textWidth(text, CELL_FONT) + CELL_PADDING));
      }
      this.widths[index] = Math.max(this.widths[index]!, Math.min(MOST_WIDTH, width));
      if (long && width > this.widths[index]!) cut.push({ index, missing: width - this.widths[index]! });
    });
    this.useRoom(cut);
    this.measured = true;
  }

  /** Gives the room that is left in a wide window to the columns whose values are cut. */
  private useRoom(cut: { index: number; missing: number }[]): void {
    let room = this.element.clientWidth - this.widths.reduce((sum, width) => sum + width, ROOM_OF_GUTTER);
    cut.sort((a, b) => a.missing - b.missing);
    cut.forEach(({ index, missing }, done) => {
      const share = Math.max(0, Math.min(missing, Math.floor(room / (cut.length - done))));
      this.widths[index] = this.widths[index]! + share;
      room -= share;
    });
  }

  private layOut(): void {
    this.gutter = Math.ceil(textWidth(count(Math.max(this.rows.length, 99)), GUTTER_FONT)) + 18;
    let left = this.gutter;
    this.lefts = this.widths.map((width) => {
      const here = left;
      left += width;
      return here;
    });
    this.header.style.width = `${left}px`;
    this.sizer.style.width = `${left}px`;
    this.sizer.style.height = `${this.scale.real}px`;
  }

  private scrolled(): void {
    const real = this.element.scrollTop;
    if (real !== this.lastReal) {
      this.top = this.scale.move(this.top, this.lastReal, real);
      this.lastReal = real;
      window.clearTimeout(this.settle);
      this.settle = window.setTimeout(() => this.alignScrollBar(), SETTLE_MS);
    }
    this.schedule();
  }

  /** After short moves the scroll bar is not where the rows are: puts it there. */
  private alignScrollBar(): void {
    const real = Math.round(this.scale.toReal(this.top));
    if (real === this.element.scrollTop) return;
    this.lastReal = real;
    this.element.scrollTop = real;
    this.lastReal = this.element.scrollTop;
    this.schedule();
  }

  private draw(): void {
    const { element: grid, rows } = this;
    if (grid.clientHeight === 0) return;
    const real = grid.scrollTop;
    if (this.scale.real === this.scale.virtual) this.top = Math.min(real, this.scale.virtualEnd);
    const first = Math.max(0, Math.floor(this.top / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(rows.length - 1, Math.ceil((this.top + this.scale.view) / ROW_HEIGHT) + OVERSCAN);
    const [from, to] = this.columnsInView();
    const columns = `${from}-${to}`;
    if (columns !== this.window) {
      this.window = columns;
      for (const row of this.drawn.values()) row.remove();
      this.drawn.clear();
      this.drawHeader(from, to);
    }
    for (const [index, row] of this.drawn) {
      if (index < first || index > last || (row.dataset["waiting"] && rows.row(index))) {
        row.remove();
        this.drawn.delete(index);
      }
    }
    for (let index = first; index <= last; index++) {
      let row = this.drawn.get(index);
      if (!row) {
        row = this.drawRow(index, from, to);
        this.drawn.set(index, row);
        this.sizer.append(row);
      }
      row.style.transform = `translateY(${Math.round(index * ROW_HEIGHT - this.top + real)}px)`;
    }
    this.markActive();
    if (last >= first) rows.inView?.(Math.max(0, first), last);
  }

  private columnsInView(): [number, number] {
    const left = this.element.scrollLeft;
    const right = left + this.element.clientWidth;
    let from = 0;
    while (from < this.widths.length - 1 && this.lefts[from]! + this.widths[from]! < left + this.gutter) from += 1;
    let to = from;
    while (to < this.widths.length - 1 && this.lefts[to]! + this.widths[to]! < right) to += 1;
    return [Math.max(0, from - 1), Math.min(this.widths.length - 1, to + 1)];
  }

  private drawHeader(from: number, to: number): void {
    const corner = element("div", { class: "grid-corner", role: "columnheader", "aria-colindex": 1 }, element("span", { class: "off-screen" }, "Row"));
    corner.style.width = `${this.gutter}px`;
    this.header.replaceChildren(corner);
    for (let index = from; index <= to; index++) {
      const column = this.rows.columns[index];
      if (!column) continue;
      const cell = element(
        "div",
        {
          class: isNumeric(column) ? "grid-head number" : "grid-head",
          role: "columnheader",
          "aria-colindex": index + 2,
          title: `${column.name}: ${column.arrow}`,
        },
        element("span", { class: "grid-name" }, column.name),
        element("span", { class: "grid-type" }, column.type),
        element("span", {
          class: "grid-edge",
          title: "Drag to change the width, or press Shift with the left or right arrow",
          onpointerdown: (event: PointerEvent) => this.resizeColumn(event, index),
        }),
      );
      this.place(cell, index);
      this.header.append(cell);
    }
  }

  private drawRow(index: number, from: number, to: number): HTMLElement {
    const values = this.rows.row(index);
    const deleted = this.rows.deleted?.(index) ?? false;
    const row = element("div", {
      class: ["grid-row", index % 2 && "odd", deleted && "deleted"].filter(Boolean).join(" "),
      role: "row",
      "aria-rowindex": index + 2,
      "data-row": index,
      "data-waiting": !values,
    });
    const gutter = element("div", { class: "grid-gutter", role: "rowheader", "aria-colindex": 1 }, count(index + 1), deleted && element("span", { class: "off-screen" }, " deleted"));
    if (deleted) gutter.title = "A deleted record";
    gutter.style.width = `${this.gutter}px`;
    row.append(gutter);
    row.style.width = this.sizer.style.width;
    for (let column = from; column <= to; column++) {
      const kind = this.rows.columns[column];
      if (!kind) continue;
      const cell = element("div", {
        class: isNumeric(kind) ? "grid-cell number" : "grid-cell",
        role: "gridcell",
        "aria-colindex": column + 2,
        "data-column": column,
        id: `${this.id}-${index}-${column}`,
      });
      if (values) cell.append(cellContent(values[column]));
      this.place(cell, column);
      row.append(cell);
    }
    return row;
  }

  private place(cell: HTMLElement, column: number): void {
    cell.style.left = `${this.lefts[column]}px`;
    cell.style.width = `${this.widths[column]}px`;
  }

  private markActive(): void {
    const id = `${this.id}-${this.active.row}-${this.active.column}`;
    for (const cell of this.sizer.querySelectorAll(".grid-cell.active")) {
      cell.classList.remove("active");
      cell.removeAttribute("aria-selected");
    }
    const cell = this.drawn.get(this.active.row)?.querySelector(`[data-column="${this.active.column}"]`);
    if (cell) {
      cell.classList.add("active");
      cell.setAttribute("aria-selected", "true");
      this.element.setAttribute("aria-activedescendant", id);
    } else {
      this.element.removeAttribute("aria-activedescendant");
    }
  }

  private activate(row: number, column: number): void {
    this.active = {
      row: Math.min(Math.max(0, row), Math.max(0, this.rows.length - 1)),
      column: Math.min(Math.max(0, column), this.widths.length - 1),
    };
    this.reveal();
    this.draw();
  }

  private reveal(): void {
    const top = this.active.row * ROW_HEIGHT;
    const view = this.scale.view;
    let target = this.top;
    if (top < this.top) target = top;
    else if (top + ROW_HEIGHT > this.top + view) target = top + ROW_HEIGHT - view;
    if (target !== this.top) {
      this.top = Math.min(this.scale.virtualEnd, Math.max(0, target));
      this.element.scrollTop = Math.round(this.scale.toReal(this.top));
      this.lastReal = this.element.scrollTop;
    }
    const left = this.lefts[this.active.column]!;
    const right = left + this.widths[this.active.column]!;
    const grid = this.element;
    if (left < grid.scrollLeft + this.gutter) grid.scrollLeft = left - this.gutter;
    else if (right > grid.scrollLeft + grid.clientWidth) {
      grid.scrollLeft = Math.min(left - this.gutter, right - grid.clientWidth);
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey) return;
    const { row, column } = this.active;
    const page = Math.max(1, Math.floor(this.scale.view / ROW_HEIGHT) - 1);
    const command = event.ctrlKey || event.metaKey;
    const last = this.rows.length - 1;
    const moves: Record<string, [number, number]> = {
      ArrowDown: [command ? last : row + 1, column],
      ArrowUp: [command ? 0 : row - 1, column],
      ArrowRight: [row, command ? this.widths.length - 1 : column + 1],
      ArrowLeft: [row, command ? 0 : column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: command ? [0, 0] : [row, 0],
      End: command ? [last, this.widths.length - 1] : [row, this.widths.length - 1],
    };
    const move = moves[event.key];
    if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) this.widen(column, event.key === "ArrowRight" ? WIDTH_STEP : -WIDTH_STEP);
    else if (move) this.activate(...move);
    else if (event.key === "Enter" && !command) this.open(row, column);
    else if (command && event.key.toLowerCase() === "c" && !String(getSelection())) {
      const values = this.rows.row(row);
      if (values) void copyText(values[column] === null ? "" : valueText(values[column]));
    } else return;
    event.preventDefault();
  }

  private clicked(event: MouseEvent): void {
    const cell = cellOf(event);
    if (!cell || String(getSelection())) return;
    this.activate(cell.row, cell.column);
    const value = this.rows.row(cell.row)?.[cell.column];
    if (isLong(value) || cell.node.scrollWidth > cell.node.clientWidth) this.open(cell.row, cell.column);
  }

  private doubleClicked(event: MouseEvent): void {
    const cell = cellOf(event);
    if (!cell) return;
    getSelection()?.empty();
    this.open(cell.row, cell.column);
  }

  private open(row: number, column: number): void {
    const values = this.rows.row(row);
    const kind = this.rows.columns[column];
    if (values && kind) showValue(kind, values[column], `row ${count(row + 1)}${this.rows.deleted?.(row) ? ", deleted" : ""}`);
  }

  private widen(column: number, step: number): void {
    this.resized.add(column);
    this.widths[column] = Math.max(LEAST_WIDTH, this.widths[column]! + step);
    this.refresh();
  }

  private resizeColumn(event: PointerEvent, index: number): void {
    event.preventDefault();
    const edge = event.target as HTMLElement;
    const start = event.clientX;
    const before = this.widths[index]!;
    edge.setPointerCapture(event.pointerId);
    this.resized.add(index);
    const move = (moved: PointerEvent) => {
      this.widths[index] = Math.max(LEAST_WIDTH, before + moved.clientX - start);
      this.layOut();
      // The edge keeps the pointer, so the header stays; its cells move.
      for (const cell of this.sizer.parentElement!.querySelectorAll<HTMLElement>(".grid-head, .grid-cell")) {
        this.place(cell, Number(cell.getAttribute("aria-colindex")) - 2);
      }
      for (const row of this.drawn.values()) row.style.width = this.sizer.style.width;
    };
    const end = () => {
      edge.removeEventListener("pointermove", move);
      this.refresh();
    };
    edge.addEventListener("pointermove", move);
    edge.addEventListener("pointerup", end, { once: true });
    edge.addEventListener("pointercancel", end, { once: true });
  }
}

/** Rows that are all there. */
export function fixedRows(columns: Column[], rows: Value[][]): Rows {
  return { columns, length: rows.length, row: (index) => rows[index] };
}

function cellOf(event: MouseEvent): { row: number; column: number; node: HTMLElement } | null {
  const node = (event.target as Element).closest<HTMLElement>(".grid-cell");
  const row = node?.closest<HTMLElement>(".grid-row");
  if (!node || !row) return null;
  return { row: Number(row.dataset["row"]), column: Number(node.dataset["column"]), node };
}

function headerWidth(column: Column): number {
  const name = textWidth(column.name, HEADER_FONT);
  return Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, Math.ceil(Math.max(name, textWidth(column.type, GUTTER_FONT)) + CELL_PADDING)));
}

let measure: CanvasRenderingContext2D | null | undefined;

function textWidth(text: string, font: string): number {
  measure ??= document.createElement("canvas").getContext("2d");
  if (!measure) return text.length * 8;
  measure.font = font;
  return measure.measureText(text).width;
}

let grids = 0;

// As in style.css.
const ROW_HEIGHT = 26;
const HEADER_HEIGHT = 40;
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const CELL_FONT = `13px ${FAMILY}`;
const HEADER_FONT = `600 13px ${FAMILY}`;
const GUTTER_FONT = `11px ${FAMILY}`;

const CELL_PADDING = 22;
const LEAST_WIDTH = 56;
const MOST_WIDTH = 340;
const WIDTH_STEP = 20;
const SAMPLE_ROWS = 200;
const SAMPLE_CHARACTERS = 160;
const ROOM_OF_GUTTER = 120;
const OVERSCAN = 6;
const SETTLE_MS = 150;
