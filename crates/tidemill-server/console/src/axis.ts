/** Scales and their marks. */

import type { Column, Value } from "./api";
import { asNumber, isNumeric, valueText } from "./value";

export interface Axis {
  from: number;
  to: number;
  ticks: { at: number; label: string }[];
}

/** Numbers at 1, 2 or 5 times a power of ten. */
export function numberAxis(least: number, highest: number, most: number, withZero: boolean): Axis {
  let from = withZero ? Math.min(0, least) : least;
  let to = withZero ? Math.max(0, highest) : highest;
  if (from === to) {
    const room = Math.abs(from) / 10 || 1;
    if (!withZero || from !== 0) from -= room;
    to += room;
    if (withZero) from = Math.min(0, Math.max(from, least >= 0 ? 0 : from));
  }
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10);
  const first = Math.floor(from / step + 1e-12);
  const last = Math.ceil(to / step - 1e-12);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let index = first; index <= last; index++) ticks.push({ at: index * step, label: tickText(index * step, step, digits) });
  return { from: first * step, to: last * step, ticks };
}

/** Days, months or years, or times of a day. */
export function timeAxis(column: Column, least: number, highest: number, most: number): Axis {
  const to = highest === least ? highest + 1 : highest;
  const span = to - least;
  const finest = column.type === "date" ? DAY : 1;
  const step = TIME_STEPS.find((candidate) => candidate >= finest && span / candidate <= most) ?? 0;
  const ticks = [];
  if (step > 0 && step < 28 * DAY) {
    for (let at = Math.ceil(least / step) * step; at <= to; at += step) ticks.push({ at, label: timeText(column, at, step) });
  } else {
    const months = MONTH_STEPS.find((candidate) => span / (candidate * 30.4 * DAY) <= most) ?? Math.ceil(span / (365 * DAY) / most) * 12;
    const start = new Date(least);
    let month = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
    for (let at = monthStart(month); at <= to; at = monthStart((month += months))) {
      if (at >= least) ticks.push({ at, label: new Date(at).toISOString().slice(0, months % 12 === 0 ? 4 : 7) });
    }
  }
  return { from: least, to, ticks };
}

/** A value as a place on a scale: a number, or milliseconds. */
export function placeOf(column: Column, value: Value | undefined): number | null {
  if (isNumeric(column)) return asNumber(value);
  if (typeof value !== "string") return null;
  const text = column.type === "time" ? `1970-01-01T${value}` : value.replace(" ", "T");
  const parsed = Date.parse(/T/.test(text) ? text.replace(/(\.\d{3})\d+/, "$1").replace(/(Z|[+-]\d\d(:?\d\d)?)?$/, (zone) => (zone ? zone.padEnd(6, ":00") : "Z").replace(/^Z.*/, "Z")) : `${text}T00:00:00Z`);
  return Number.isFinite(parsed) ? parsed : null;
}

export function short(value: Value | undefined, most: number): string {
  const text = valueText(value).replace(/\s+/g, " ");
  return text.length > most ? `${text.slice(0, most - 1)}…` : text || "''";
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  1, 10, 100, SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY, 14 * DAY,
];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

function monthStart(month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
  return date.getTime();
}

function timeText(column: Column, at: number, step: number): string {
  const iso = new Date(at).toISOString();
  if (column.type === "time") return step >= MINUTE ? iso.slice(11, 16) : iso.slice(11, 19);
  if (step >= DAY) return iso.slice(0, 10);
  return step >= MINUTE ? iso.slice(5, 16).replace("T", " ") : iso.slice(11, 23).replace(/\.000$/, "");
}

function tickText(value: number, step: number, digits: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return value.toExponential(1);
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]] as const) {
    if (size >= unit && step >= unit / 1000) return `${Number((value / unit).toFixed(3))}${name}`;
  }
  const text = (value === 0 ? 0 : value).toFixed(Math.min(digits, 12));
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, (_, __, at: number) => (text.includes(".") && at > text.indexOf(".") ? "" : "\u202f"));
}
