/** The last statements that were run, newest first. */

import { store } from "./store";

export interface Run {
  sql: string;
  /** When it was run, in milliseconds since 1970. */
  at: number;
}

export function history(): Run[] {
  try {
    const kept: unknown = JSON.parse(store.read(KEY) ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.filter((run): run is Run => typeof run?.sql === "string" && typeof run?.at === "number");
  } catch {
    return [];
  }
}

export function remember(sql: string, at: number): void {
  if (sql.length > MOST_CHARACTERS) return;
  const others = history().filter((run) => run.sql !== sql);
  store.write(KEY, JSON.stringify([{ sql, at }, ...others].slice(0, MOST_RUNS)));
}

export function forget(): void {
  store.write(KEY, null);
}

const KEY = "history";
const MOST_RUNS = 100;

/** Longer scripts would fill the room that browsers give to a page. */
const MOST_CHARACTERS = 20_000;
