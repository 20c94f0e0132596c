/** Cells as text. */

import type { Column, ColumnType, Value } from "./api";
import { element } from "./element";

const NUMERIC: ReadonlySet<ColumnType> = new Set(["integer", "number", "decimal"]);

/** No cell puts more characters than this into the document; the dialog shows the rest. */
const CELL_CHARACTERS = 200;

export function isNumeric(column: Column): boolean {
  return NUMERIC.has(column.type);
}

/** A value in full. NULL is the word. */
export function valueText(value: Value | undefined): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A value on one line. NULL and the empty text do not look like any text. */
export function cellContent(value: Value | undefined): Node {
  if (value === null || value === undefined) return element("span", { class: "null" }, "NULL");
  const text = valueText(value);
  if (text === "") return element("span", { class: "empty", title: "an empty text" }, "''");
  const cut = text.length > CELL_CHARACTERS ? `${text.slice(0, CELL_CHARACTERS)}…` : text;
  return document.createTextNode(cut.replace(/\r\n|\r|\n/g, " ↵ "));
}

/** Whether a value does not fit on one line of a cell. */
export function isLong(value: Value | undefined): boolean {
  const text = valueText(value);
  return text.length > CELL_CHARACTERS || /[\r\n]/.test(text);
}

export function asNumber(value: Value | undefined): number | null {
  if (value === null || value === undefined || value === "" || typeof value === "boolean") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** 1234567 as `1 234 567`, with narrow spaces that do not break. */
export function count(number: number): string {
  return String(Math.trunc(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = bytes / 1000;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}
