/** What the server of this page answers, and how it is asked. */

export type ColumnType =
  | "boolean" | "integer" | "number" | "decimal" | "text" | "date" | "time" | "timestamp" | "binary" | "other";

export interface Column {
  name: string;
  type: ColumnType;
  arrow: string;
  nullable: boolean;
}

/** A cell. Integers beyond 2^53 and decimals are strings; binary values are hex text. */
export type Value = string | number | boolean | null;

export interface Answer {
  columns: Column[];
  rows: Value[][];
  /** The number of changed rows, of a statement that changes rows. */
  changed: number | null;
  /** Whether there are more rows than the limit let through. */
  truncated: boolean;
  ms: number;
}

export interface Catalog {
  version: string;
  /** The schema whose tables are named alone. Default: `main`. */
  default?: string;
  /** The formats of copies into folders. Older servers make no copies. */
  formats?: string[];
  schemas: CatalogSchema[];
}

export interface CatalogSchema {
  name: string;
  tables: { name: string; format: string }[];
  /** What copies into this schema become. Nothing: none can be made, or the user may not. */
  target?: "folder" | "database" | null;
}

export interface TableDetail {
  name: string;
  schema: string;
  format: string;
  columns: Column[];
  rows: number | null;
  /** The number of records with the deleted ones, where records can be deleted and still be there. */
  records?: number | null;
  bytes: number | null;
  inspect: string;
}

/** What is copied: a table with its schema in front, or the rows of a SELECT. */
export type CopySource = { table: string } | { sql: string };

export interface CopyOrder {
  source: CopySource;
  /** A format is for folders alone. */
  target: { schema: string; name: string; format?: string };
  overwrite: boolean;
  /** Whether values may lose something by their new type. */
  lossy: boolean;
  verify: "count" | "full";
}

export interface Copy {
  id: string;
  source: string;
  target: string;
  state: "running" | "done" | "failed" | "stopped";
  /** The rows that are written so far. */
  rows: number;
  expected: number | null;
  bytes: number | null;
  seconds: number;
  /** After a full comparison that found no difference. */
  compared_columns: number | null;
  error: { sqlstate: string; message: string; hint: string | null } | null;
}

export interface Report {
  name: string;
  bytes: number;
  modified: string;
}

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly sqlstate: string | null = null,
    readonly hint: string | null = null,
    /** The place in the statement, in characters from 1. */
    readonly position: number | null = null,
  ) {
    super(message);
  }

  get cancelled(): boolean {
    return this.status === CANCELLED;
  }
}

export function tables(): Promise<Catalog> {
  return json(request("tables"));
}

/** `path` is the table's name with its schema, unless that is the default. */
export function table(path: string): Promise<TableDetail> {
  return json(request(`tables/${encodeURIComponent(path)}`));
}

/**
 * Runs statements and returns an answer for each. An abort ends the wait at once and cancels them on the server. With `deleted`, deleted
 * records are rows too, and a last column tells them apart.
 */
export function run(sql: string, limit: number, signal?: AbortSignal, { statement = uuid(), deleted = false } = {}): Promise<Answer[]> {
  return cancellable(statement, signal, async (inner) => {
    const body: { answers: Answer[] } = await json(post({ sql, limit, deleted: deleted || undefined }, "application/json", statement, inner));
    return body.answers;
  });
}

/** Cancels what was posted under the name `statement`. */
export async function cancel(statement: string): Promise<void> {
  await request(`sql/${statement}`, { method: "DELETE", headers: HEADERS }).catch(() => undefined);
}

/** Runs a SELECT for its rows in the format `accept`, and tells how many bytes have come. */
export function download(sql: string, accept: string, signal: AbortSignal, progress: (bytes: number) => void): Promise<Blob> {
  const statement = uuid();
  return cancellable(statement, signal, async (inner) => {
    const response = await post({ sql }, accept, statement, inner);
    const parts: BlobPart[] = [];
    let bytes = 0;
    try {
      const reader = response.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
        bytes += value.byteLength;
        if (!signal.aborted) progress(bytes);
      }
    } catch (error) {
      // After the first bytes the server can only break the connection.
      throw inner.aborted ? known(error, inner) : new ApiError(`The answer broke off after ${bytes} bytes`, 0);
    }
    return new Blob(parts, { type: accept });
  });
}

/** The copies that run or have ended, newest first. */
export async function copies(): Promise<Copy[]> {
  const body: { copies: Copy[] } = await json(request("copies"));
  return body.copies;
}

export function startCopy(order: CopyOrder): Promise<Copy> {
  return json(request("copies", { method: "POST", headers: { ...HEADERS, "Content-Type": "application/json" }, body: JSON.stringify(order) }));
}

/** Stops a copy that runs. One that has ended leaves the list, and then nothing is returned. */
export async function endCopy(id: string): Promise<Copy | null> {
  const response = await request(`copies/${encodeURIComponent(id)}`, { method: "DELETE", headers: HEADERS });
  return response.status === NO_CONTENT ? null : json(Promise.resolve(response));
}

/** The reports of load tests. Older servers know of none. */
export async function reports(): Promise<Report[]> {
  try {
    const body: { reports: Report[] } = await json(request("reports"));
    return body.reports;
  } catch (error) {
    if (error instanceof ApiError && error.status === NOT_FOUND) return [];
    throw error;
  }
}

/** The address of a report, which is a page of its own. */
export function reportAddress(name: string): string {
  return `reports/${encodeURIComponent(name)}`;
}

/** A random name for a statement. `crypto.randomUUID` is missing on pages that come by plain HTTP from another machine. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Any error as text for the reader, with its SQLSTATE in front if there is one. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof ApiError && error.sqlstate ? `${error.sqlstate}: ${error.message}` : error.message;
}

const CANCELLED = 499;
const NOT_FOUND = 404;
const NO_CONTENT = 204;
/** What a cancelled statement gets to answer. */
const CLOSE_MS = 300;
const HEADERS = { "X-Tidemill": "1" };

/**
 * Gives up at once when `signal` is aborted. The server is asked to cancel before the connection is closed, so that it still knows the
 * statement.
 */
async function cancellable<T>(statement: string, signal: AbortSignal | undefined, work: (inner: AbortSignal) => Promise<T>): Promise<T> {
  if (!signal) return work(new AbortController().signal);
  const inner = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const stop = () => {
      reject(new ApiError("The statement was cancelled", CANCELLED));
      void cancel(statement).then(() => setTimeout(() => inner.abort(), CLOSE_MS));
    };
    if (signal.aborted) return reject(new ApiError("The statement was cancelled", CANCELLED));
    signal.addEventListener("abort", stop, { once: true });
    work(inner.signal).then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function post(
  what: { sql: string; limit?: number; deleted?: boolean | undefined },
  accept: string,
  statement: string,
  signal: AbortSignal,
): Promise<Response> {
  return request("sql", {
    method: "POST",
    headers: { ...HEADERS, "Content-Type": "application/json", "X-Statement": statement, Accept: accept },
    body: JSON.stringify({ ...what, parameters: [] }),
    signal,
  });
}

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(new URL(path, document.baseURI.replace(/[?#].*$/s, "")), init);
  } catch (error) {
    throw known(error, init.signal);
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as { error?: Partial<ApiError> & { message?: string } } | null;
  const error = body?.error;
  throw new ApiError(
    error?.message ?? `The server answered ${response.status} ${response.statusText}`.trimEnd(),
    response.status,
    error?.sqlstate ?? null,
    error?.hint ?? null,
    error?.position ?? null,
  );
}

async function json<T>(response: Promise<Response>): Promise<T> {
  try {
    return (await (await response).json()) as T;
  } catch (error) {
    throw known(error);
  }
}

function known(error: unknown, signal?: AbortSignal | null): unknown {
  if (error instanceof ApiError) return error;
  if (signal?.aborted || (error instanceof DOMException && error.name === "AbortError")) {
    return new ApiError("The statement was cancelled", CANCELLED);
  }
  if (error instanceof SyntaxError) return new ApiError("The answer of the server is not JSON", 0);
  return new ApiError("The server cannot be reached", 0, null, "Is `tidemill serve` still running?");
}
