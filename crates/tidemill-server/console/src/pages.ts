/** The rows of a table of any length, fetched by pages when they come into view. */

import { ApiError, run, type Column, type Value } from "./api";
import type { Rows } from "./grid";

export class Pages implements Rows {
  private readonly pages = new Map<number, Value[][]>();
  private readonly loading = new Map<number, AbortController>();
  private wanted: number[] = [];
  private timer: number | undefined;
  private failed = false;

  constructor(
    readonly columns: Column[],
    public length: number,
    private readonly tableSql: string,
    private readonly changed: () => void,
    private readonly error: (error: unknown) => void,
    /** Whether deleted records are among the rows. */
    private readonly withDeleted = false,
  ) {}

  row(index: number): Value[] | undefined {
    return this.pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS];
  }

  /** The server puts the mark behind the columns of the table. */
  deleted(index: number): boolean {
    return this.withDeleted && this.row(index)?.[this.columns.length] === true;
  }

  inView(first: number, last: number): void {
    this.wanted = [];
    for (let page = Math.floor(first / PAGE_ROWS); page <= Math.floor(last / PAGE_ROWS); page++) {
      this.wanted.push(page);
      const rows = this.pages.get(page);
      if (rows) {
        // The order in the map is the order of use.
        this.pages.delete(page);
        this.pages.set(page, rows);
      }
    }
    window.clearTimeout(this.timer);
    // While the scroll bar is dragged the rows pass by: only where it rests they are fetched.
    this.timer = window.setTimeout(() => this.fetch(), this.pages.size === 0 ? 0 : REST_MS);
  }

  /** Tries again what has failed. */
  retry(): void {
    this.failed = false;
    this.fetch();
  }

  stop(): void {
    window.clearTimeout(this.timer);
    this.wanted = [];
    for (const controller of this.loading.values()) controller.abort();
    this.loading.clear();
  }

  private fetch(): void {
    for (const [page, controller] of this.loading) {
      if (this.wanted.includes(page)) continue;
      controller.abort();
      this.loading.delete(page);
    }
    if (this.failed) return;
    for (const page of this.wanted) {
      if (!this.pages.has(page) && !this.loading.has(page)) void this.load(page);
    }
  }

  private async load(page: number): Promise<void> {
    const controller = new AbortController();
    this.loading.set(page, controller);
    try {
      const sql = `SELECT * FROM ${this.tableSql} LIMIT ${PAGE_ROWS} OFFSET ${page * PAGE_ROWS}`;
      const [answer] = await run(sql, PAGE_ROWS, controller.signal, { deleted: this.withDeleted });
      const rows = answer?.rows ?? [];
      if (rows.length === 0 && page > 0) {
        // The number of rows that the table is said to have counts too many, as that of a file with deleted records does.
        const [counted] = await run(`SELECT COUNT(*) AS n FROM ${this.tableSql}`, 1, controller.signal, { deleted: this.withDeleted });
        this.length = Math.min(page * PAGE_ROWS, Number(counted?.rows[0]?.[0] ?? 0));
        this.changed();
        return;
      }
      this.pages.set(page, rows);
      // A page that is not full is the last one.
      if (rows.length < PAGE_ROWS) this.length = Math.min(this.length, page * PAGE_ROWS + rows.length);
      for (const old of this.pages.keys()) {
        if (this.pages.size <= MOST_PAGES) break;
        if (!this.wanted.includes(old)) this.pages.delete(old);
      }
      this.changed();
    } catch (error) {
      if (controller.signal.aborted || (error instanceof ApiError && error.cancelled)) return;
      this.failed = true;
      this.error(error);
    } finally {
      if (this.loading.get(page) === controller) this.loading.delete(page);
    }
  }
}

const PAGE_ROWS = 200;

/** At most this many pages are kept: 12 000 rows. */
const MOST_PAGES = 60;

const REST_MS = 60;
