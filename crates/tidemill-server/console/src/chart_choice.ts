/** Which chart suits the columns of an answer. */

import type { Column, ColumnType } from "./api";
import { isNumeric } from "./value";

export type Kind = "bar" | "line" | "scatter";

export interface Choice {
  kind: Kind;
  /** Indexes of columns. */
  x: number;
  y: number;
}

export const KINDS: Kind[] = ["bar", "line", "scatter"];

/** Text or date with a number: bars or a line. Two numbers: points. One number: bars, a row each. Nothing without numbers. */
export function choose(columns: Column[]): Choice | null {
  const numbers = columns.flatMap((column, index) => (isNumeric(column) ? [index] : []));
  const labels = columns.flatMap((column, index) => (LABELS.has(column.type) ? [index] : []));
  const [first, second] = numbers;
  if (first === undefined) return null;
  const label = labels[0];
  if (label !== undefined) return { kind: ORDERED.has(columns[label]!.type) ? "line" : "bar", x: label, y: first };
  if (second !== undefined) return { kind: "scatter", x: first, y: second };
  return { kind: "bar", x: first, y: first };
}

/** Columns that can stand on the vertical axis. */
export function numberColumns(columns: Column[]): number[] {
  return columns.flatMap((column, index) => (isNumeric(column) ? [index] : []));
}

/** Columns whose values have distances, so that an axis can be to scale. */
export function hasScale(column: Column): boolean {
  return isNumeric(column) || ORDERED.has(column.type);
}

const ORDERED: ReadonlySet<ColumnType> = new Set(["date", "time", "timestamp"]);
const LABELS: ReadonlySet<ColumnType> = new Set(["text", "boolean", ...ORDERED]);
