/** What a column holds, asked by SQL that every store answers. */

import { ApiError, run, type Column, type Value } from "./api";
import { literal, quote } from "./sql_text";
import { asNumber, isNumeric } from "./value";

export interface Statistics {
  rows: number;
  nulls: number;
  distinct: number | null;
  least: Value;
  highest: Value;
  /** Numbers of values in ranges of equal width. */
  histogram: Bucket[] | null;
  /** The most frequent values. */
  frequent: { value: Value; count: number }[] | null;
}

export interface Bucket {
  from: string;
  to: string;
  count: number;
}

export async function statistics(table: string, column: Column, signal: AbortSignal): Promise<Statistics> {
  const ask = async (sql: string) => (await run(sql, BUCKETS * 4, signal))[0]?.rows ?? [];
  const name = quote(column.name);
  const bounds = await ask(countsSql(table, column)).catch((error: unknown) => {
    // Some stores neither sort nor compare some types: their rows can still be counted.
    if (signal.aborted || (error instanceof ApiError && error.cancelled)) throw error;
    return ask(`SELECT COUNT(*) AS a, COUNT(${name}) AS b FROM ${table}`);
  });
  const [rows = 0, values = 0, distinct = null, least = null, highest = null] = bounds[0] ?? [];
  const result: Statistics = {
    rows: Number(rows),
    nulls: Number(rows) - Number(values),
    distinct: distinct === null ? null : Number(distinct),
    least,
    highest,
    histogram: null,
    frequent: null,
  };
  if (Number(values) === 0) return result;
  const edges = bucketEdges(column, least, highest);
  if (edges) {
    const counts = await ask(histogramSql(table, column, edges));
    result.histogram = edges.slice(0, -1).map((from, index) => ({
      from,
      to: edges[index + 1]!,
      count: Number(counts.find(([bucket]) => Number(bucket) === index)?.[1] ?? 0),
    }));
  } else if (column.type === "text" || column.type === "boolean") {
    const counts = await ask(frequentSql(table, column));
    result.frequent = counts.map(([value, count]) => ({ value: value ?? null, count: Number(count) }));
  }
  return result;
}

export function countsSql(table: string, column: Column): string {
  const name = quote(column.name);
  const counts = `SELECT COUNT(*) AS a, COUNT(${name}) AS b`;
  if (column.type === "binary" || column.type === "other") return `${counts} FROM ${table}`;
  return `${counts}, COUNT(DISTINCT ${name}) AS c, MIN(${name}) AS d, MAX(${name}) AS e FROM ${table}`;
}

export function frequentSql(table: string, column: Column): string {
  const name = quote(column.name);
  return `SELECT ${name} AS v, COUNT(*) AS n FROM ${table} WHERE ${name} IS NOT NULL GROUP BY ${name} ORDER BY n DESC LIMIT ${MOST_FREQUENT}`;
}

/** The rows of each range between two edges. A range holds its lower edge; the last one both. */
export function histogramSql(table: string, column: Column, edges: string[]): string {
  const name = quote(column.name);
  const value = (edge: string) => (isNumeric(column) ? edge : literal(edge));
  const ranges = edges.slice(1, -1).map((edge, index) => `WHEN ${name} < ${value(edge)} THEN ${index}`);
  const bucket = ranges.length === 0 ? "0" : `CASE ${ranges.join(" ")} ELSE ${ranges.length} END`;
  if (ranges.length === 0) return `SELECT 0 AS b, COUNT(${name}) AS n FROM ${table}`;
  return `SELECT ${bucket} AS b, COUNT(*) AS n FROM ${table} WHERE ${name} IS NOT NULL GROUP BY ${bucket}`;
}

/** The edges of the ranges, as they stand in SQL, or nothing for values that have no distances. */
export function bucketEdges(column: Column, least: Value, highest: Value): string[] | null {
  if (isNumeric(column)) {
    const from = asNumber(least);
    const to = asNumber(highest);
    if (from === null || to === null) return null;
    if (from === to) return [String(least), String(highest)];
    const buckets = column.type === "integer" ? Math.min(BUCKETS, to - from + 1) : BUCKETS;
    return steps(from, to, buckets, (edge) => (column.type === "integer" ? Math.ceil(edge) : rounded(edge, (to - from) / buckets)), String);
  }
  if (typeof least !== "string" || typeof highest !== "string") return null;
  if (column.type === "date") {
    const from = Date.parse(`${least}T00:00:00Z`) / DAY_MS;
    const to = Date.parse(`${highest}T00:00:00Z`) / DAY_MS;
    if (!Number.isFinite(from) || !Number.isFinite(to)) return null;
    const date = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
    return from === to ? [least, highest] : steps(from, to, Math.min(BUCKETS, to - from + 1), Math.ceil, date);
  }
  if (column.type === "time") {
    const parse = (text: string) => Date.parse(`1970-01-01T${text.replace(/(\.\d{3})\d+/, "$1")}Z`);
    const from = parse(least);
    const to = parse(highest);
    if (!Number.isFinite(from) || !Number.isFinite(to)) return null;
    const text = (ms: number) => new Date(ms).toISOString().slice(11, 19);
    return from === to ? [least, highest] : steps(from, to, BUCKETS, (ms) => Math.round(ms / 1000) * 1000, text);
  }
  if (column.type === "timestamp") {
    const parse = (text: string) => Date.parse(text.replace(" ", "T").replace(/(\.\d{3})\d+/, "$1").replace(/(Z|[+-]\d\d(:?\d\d)?)?$/, "Z"));
    const from = parse(least);
    const to = parse(highest);
    if (!Number.isFinite(from) || !Number.isFinite(to)) return null;
    const text = (ms: number) => new Date(ms).toISOString().slice(0, 19);
    return from === to ? [least, highest] : steps(from, to, BUCKETS, (ms) => Math.round(ms / 1000) * 1000, text);
  }
  return null;
}

const BUCKETS = 16;
const MOST_FREQUENT = 5;
const DAY_MS = 86_400_000;

function steps(
  from: number,
  to: number,
  buckets: number,
  round: (edge: number) => number,
  text: (edge: number) => string,
): string[] {
  const edges = [from];
  // Values that are whole fill whole ranges: the last one ends behind the highest value.
  const end = buckets < BUCKETS ? to + 1 : to;
  for (let index = 1; index < buckets; index++) {
    const edge = round(from + ((end - from) * index) / buckets);
    if (edge > edges.at(-1)! && edge < end) edges.push(edge);
  }
  return [...edges, to].map(text);
}

/** An edge with no more digits than a hundredth of the range's width needs. */
function rounded(edge: number, width: number): number {
  const digits = Math.min(15, Math.max(0, 2 - Math.floor(Math.log10(width))));
  return Number(edge.toFixed(digits));
}
