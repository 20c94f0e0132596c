// A mock of `tidemill serve` for work on the page alone: its HTTP interface over SQLite in memory, with invented tables.
// The tests use it when TIDEMILL_URL names no real server. `node tests/mock_server.mjs` serves the built page on port 7878.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import initSqlJs from "sql.js";
import { MockCopies } from "./mock_copies.mjs";

export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** A report is a page that brings its own styles, and is shown in a frame of the page. */
const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-popups";

const DIST = new URL("../dist/", import.meta.url);
const FILES = { "/": ["index.html", "text/html"], "/console.js": ["console.js", "text/javascript"], "/console.css": ["console.css", "text/css"] };

/** More rows than SQLite should hold: they are made when they are asked for. */
const TEN_MILLION = 10_000_000;

export async function startMock(port = 0) {
  const database = await sampleDatabase();
  const running = new Map();
  const copies = new MockCopies();
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      const body = error.body ?? { error: { sqlstate: "XX000", message: String(error.message ?? error), hint: null, position: null } };
      send(response, error.status ?? 500, "application/json", JSON.stringify(body));
    });
  });

  async function handle(request, response) {
    const url = new URL(request.url, "http://mock");
    if (request.method === "GET" && FILES[url.pathname]) {
      const [file, type] = FILES[url.pathname];
      return send(response, 200, `${type}; charset=utf-8`, await readFile(new URL(file, DIST)));
    }
    if (url.pathname === "/healthz") return send(response, 200, "text/plain", "ok");
    if (url.pathname === "/tables") return send(response, 200, "application/json", JSON.stringify(catalog()));
    if (url.pathname.startsWith("/tables/")) {
      const table = TABLES[decodeURIComponent(url.pathname.slice("/tables/".length))];
      if (!table) throw failure(404, "42P01", "there is no such table");
      return send(response, 200, "application/json", JSON.stringify(detail(table, database)));
    }
    if (url.pathname === "/reports") return send(response, 200, "application/json", JSON.stringify({ reports: REPORTS }));
    if (url.pathname.startsWith("/reports/")) {
      const name = decodeURIComponent(url.pathname.slice("/reports/".length));
      if (!REPORTS.some((report) => report.name === name)) throw failure(404, "42704", "there is no such report");
      return send(response, 200, "text/html; charset=utf-8", reportPage(name), REPORT_POLICY);
    }
    if (request.method === "GET" && url.pathname === "/copies") return send(response, 200, "application/json", JSON.stringify({ copies: copies.list() }));
    if (request.method !== "GET" && request.headers["x-tidemill"] !== "1") throw failure(403, "42501", "the header X-Tidemill is missing");
    if (request.method === "DELETE" && url.pathname.startsWith("/sql/")) {
      running.get(url.pathname.slice("/sql/".length))?.();
      return send(response, 204, "text/plain", "");
    }
    if (request.method === "POST" && url.pathname === "/copies") {
      const copy = startCopy(copies, JSON.parse(await body(request)), database);
      return send(response, 202, "application/json", JSON.stringify(copy));
    }
    if (request.method === "DELETE" && url.pathname.startsWith("/copies/")) {
      const copy = copies.end(url.pathname.slice("/copies/".length));
      return copy ? send(response, 200, "application/json", JSON.stringify(copy)) : send(response, 204, "text/plain", "");
    }
    if (request.method === "POST" && url.pathname === "/sql") {
      const { sql: text, limit, deleted } = JSON.parse(await body(request));
      const sql = deleted ? text.replaceAll('"returns"', '"returns with deleted"') : text;
      if (/\bslow\b/i.test(sql)) await slow(running, request.headers["x-statement"]);
      const accept = request.headers.accept;
      const answers = run(database, sql, accept === "application/json" ? (limit ?? 1000) : Infinity);
      if (accept === "application/json") return send(response, 200, accept, JSON.stringify({ answers }));
      return send(response, 200, accept, file(accept, answers.findLast(({ columns }) => columns.length > 0)));
    }
    throw failure(404, "42000", "there is no such page");
  }

  await new Promise((ready) => server.listen(port, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

/** What copies into the schemas become. */
const TARGETS = { public: "folder", out: "folder", shop: "database" };
const FORMATS = ["dbf", "parquet", "csv", "jsonl", "arrow"];

/** How many records of the table `returns` there are, with those that are deleted. */
const RETURNS = 500;

const REPORTS = [
  { name: "books.json", bytes: 48_213, modified: "2026-11-29T14:00:00Z" },
  { name: "books-2026-11-28.json", bytes: 1_204_551, modified: "2026-11-28T09:12:44Z" },
];

function reportPage(name) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${name}</title><style>:root{color-scheme:light dark}body{margin:1rem;font:14px system-ui}</style></head>
<body><h1>A load test</h1><p>read: 12 345 requests/s</p></body></html>`;
}

const column = (name, type, arrow) => ({ name, type, arrow, nullable: true });

const TABLES = {
  customers: {
    name: "customers", schema: "public", format: "dbf",
    columns: [
      column("ID", "integer", "Int64"), column("NAME", "text", "Utf8"), column("CITY", "text", "Utf8"), column("SINCE", "date", "Date32"),
      column("CREDIT", "decimal", "Decimal128(12, 2)"), column("ACTIVE", "boolean", "Boolean"), column("SEEN", "timestamp", "Timestamp(ms)"),
      column("NOTES", "text", "Utf8"), column("PHOTO", "binary", "Binary"),
    ],
  },
  "odd name": { name: "odd name", schema: "public", format: "adt", columns: [column('a "b"', "integer", "Int32"), column("order", "text", "Utf8")] },
  returns: {
    name: "returns", schema: "public", format: "dbf",
    columns: [column("ORDER", "integer", "Int64"), column("REASON", "text", "Utf8"), column("BACK", "date", "Date32"), column("REFUND", "decimal", "Decimal128(12, 2)")],
  },
  ten_million: { name: "ten_million", schema: "public", format: "dbf", columns: [column("ID", "integer", "Int64"), column("CODE", "text", "Utf8")] },
  "shop.orders": {
    name: "orders", schema: "shop", format: "sqlite",
    columns: [column("id", "integer", "Int64"), column("customer", "integer", "Int64"), column("day", "date", "Date32"), column("total", "number", "Float64")],
  },
};

function catalog() {
  const schemas = new Map([["public", []], ["out", []]]);
  for (const { schema, name, format } of Object.values(TABLES)) {
    if (!schemas.has(schema)) schemas.set(schema, []);
    schemas.get(schema).push({ name, format });
  }
  return { version: "0.0.0-mock", default: "public", formats: FORMATS, schemas: [...schemas].map(([name, tables]) => ({ name, tables, target: TARGETS[name] })) };
}

function count(table, database) {
  if (table.copied || table.schema !== "public") return null;
  return table.name === "ten_million" ? TEN_MILLION : database.exec(`SELECT COUNT(*) FROM "${table.name}"`)[0].values[0][0];
}

function detail(table, database) {
  const rows = table.copied ? 0 : count(table, database);
  const inspect = ["file          " + table.name, "format        mock", `records       ${rows}`, "┌───────┬──────┐", "│ field ┆ type │", "╞═══════╪══════╡",
    ...table.columns.map(({ name, type }) => `│ ${name.padEnd(5)} ┆ ${type.slice(0, 4).padEnd(4)} │`), "└───────┴──────┘"].join("\n");
  const records = table.name === "returns" ? RETURNS : table.format === "dbf" ? rows : null;
  return { ...table, rows, records, bytes: table.schema === "public" ? 123_456 : null, inspect };
}

async function sampleDatabase() {
  const SQL = await initSqlJs();
  const database = new SQL.Database();
  let seed = 7;
  const random = (below) => (seed = (seed * 16807) % 2147483647) % below;
  const cities = ["Rotterdam", "Bergen", "Gdańsk", "Porto", "Kiel", "Åbo", "Malmö", "Antwerp"];
  database.run('CREATE TABLE customers (ID INTEGER, NAME TEXT, CITY TEXT, SINCE TEXT, CREDIT NUMERIC, ACTIVE INTEGER, SEEN TEXT, NOTES TEXT, PHOTO TEXT)');
  const insert = database.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (let id = 1; id <= 3000; id++) {
    const day = `${1990 + random(35)}-${String(1 + random(12)).padStart(2, "0")}-${String(1 + random(28)).padStart(2, "0")}`;
    const notes = id % 9 === 0 ? "" : id % 7 === 0 ? `Called on ${day}.\nWants the catalogue, and asks whether the old prices hold.\n${"More. ".repeat(60)}` : null;
    insert.run([id, `Customer ${id}`, id % 11 === 0 ? null : cities[Math.min(random(8), random(8))], id % 13 === 0 ? null : day, (random(100_000) + random(100_000)) / 100 - 400,
      random(3) > 0 ? 1 : 0, `${day}T${String(random(24)).padStart(2, "0")}:15:00`, notes, id % 4 === 0 ? `\\x${"c0ffee".repeat(40)}` : null]);
  }
  database.run('CREATE TABLE "returns with deleted" ("ORDER" INTEGER, REASON TEXT, BACK TEXT, REFUND NUMERIC, _deleted INTEGER)');
  const reasons = ["Too small", "Too large", "Broken", "Came too late", "Not as in the picture"];
  for (let id = 1; id <= RETURNS; id++) {
    const day = `2026-${String(1 + random(12)).padStart(2, "0")}-${String(1 + random(28)).padStart(2, "0")}`;
    database.run('INSERT INTO "returns with deleted" VALUES (?, ?, ?, ?, ?)', [1 + random(800), id % 17 === 0 ? null : reasons[random(5)], day, random(9_000) / 100, id % 7 === 3 ? 1 : 0]);
  }
  database.run('CREATE VIEW returns AS SELECT "ORDER", REASON, BACK, REFUND FROM "returns with deleted" WHERE NOT _deleted');
  database.run('CREATE TABLE "odd name" ("a ""b""" INTEGER, "order" TEXT)');
  database.run(`INSERT INTO "odd name" VALUES (1, 'one'), (2, NULL), (3, '')`);
  database.run("ATTACH ':memory:' AS shop");
  database.run("CREATE TABLE shop.orders (id INTEGER, customer INTEGER, day TEXT, total REAL)");
  database.run("CREATE TABLE ten_million (ID INTEGER, CODE TEXT)");
  const orders = database.prepare("INSERT INTO shop.orders VALUES (?, ?, ?, ?)");
  for (let id = 1; id <= 800; id++) orders.run([id, 1 + random(3000), `2026-${String(1 + random(12)).padStart(2, "0")}-${String(1 + random(28)).padStart(2, "0")}`, random(90_000) / 100]);
  return database;
}

function run(database, sql, limit) {
  const answers = [];
  const iterator = database.iterateStatements(sql);
  try {
    for (const statement of iterator) {
      const text = statement.getSQL().trim();
      if (text.replace(/;$/, "") === "") continue;
      const start = performance.now();
      const answer = special(text) ?? rows(database, statement, limit);
      answers.push({ ...answer, ms: performance.now() - start });
    }
  } catch (error) {
    const name = /no such (?:column|table): (\S+)|near "([^"]+)"/.exec(error.message);
    const word = name?.[1] ?? name?.[2];
    const at = word ? sql.indexOf(word) : -1;
    throw failure(400, name?.[1] ? "42703" : "42601", error.message, name?.[1] ? `There is a column NAME` : null, at < 0 ? null : [...sql.slice(0, at)].length + 1);
  }
  return answers;
}

function startCopy(copies, order, database) {
  const { source, target } = order;
  const path = target.schema === "public" ? target.name : `${target.schema}.${target.name}`;
  const of = source.table && TABLES[source.table.replace(/^public\./, "")];
  if (source.table && !of) throw failure(400, "42P01", "there is no such table");
  if (!TARGETS[target.schema]) throw failure(403, "42501", "no copies can be made into this schema");
  if ((TARGETS[target.schema] === "folder") !== (target.format !== undefined)) throw failure(400, "22023", "a format is for folders alone");
  if (!order.overwrite && TABLES[path]) throw failure(400, "42P07", `${path}: there is a table of this name`, "Choose another name, or let it be replaced");
  const [answer] = source.sql ? run(database, source.sql, Infinity) : [];
  const columns = of?.columns ?? answer.columns;
  const made = () => (TABLES[path] = { name: target.name, schema: target.schema, format: target.format ?? "sqlite", columns, copied: true });
  return copies.start({ ...order, columns: columns.length }, of ? (count(of, database) ?? 800) : answer.rows.length, made);
}

function special(text) {
  if (/^explain\b/i.test(text)) {
    const plan = [
      "SortPreservingMergeExec: [EXPR@1 ASC], fetch=3",
      "  AggregateExec: mode=FinalPartitioned, gby=[city@0 as city], aggr=[count(Int64(1))]",
      "    HashJoinExec: mode=CollectLeft, join_type=Inner, on=[(ID@0, id@0)], projection=[city@2]",
      "      DataSourceExec: XbaseScan: file=customers.dbf, columns=[ID, CITY], filter=CREDIT@4 > 5.00, limit=10, parts=2",
      `      DataSourceExec: SqliteScan: server=sqlite:shop.db/orders, query=SELECT "id", "city" COLLATE BINARY FROM "orders" WHERE "paid" = 1`,
      "",
    ].join("\n");
    const columns = [column("plan_type", "text", "Utf8"), column("plan", "text", "Utf8")];
    return { columns, rows: [["logical_plan", "Sort: EXPR ASC\n  TableScan: customers.dbf projection=[ID]"], ["physical_plan", plan]], changed: null, truncated: false };
  }
  const page = /FROM "ten_million" LIMIT (\d+) OFFSET (\d+)/.exec(text);
  if (!page) return null;
  const [take, skip] = [Number(page[1]), Number(page[2])];
  const made = [];
  for (let id = skip; id < Math.min(TEN_MILLION, skip + take); id++) made.push([id + 1, `code ${(id + 1) % 977}`]);
  return { columns: TABLES.ten_million.columns, rows: made, changed: null, truncated: false };
}

function rows(database, statement, limit) {
  const names = statement.getColumnNames();
  const found = [];
  let truncated = false;
  while (statement.step()) {
    if (found.length >= limit) {
      truncated = true;
      break;
    }
    found.push(statement.get());
  }
  if (names.length === 0) return { columns: [], rows: [], changed: database.getRowsModified(), truncated: false };
  const known = new Map(Object.values(TABLES).flatMap(({ columns }) => columns.map((one) => [one.name, one])));
  const columns = names.map((name, index) => known.get(name) ?? guessed(name, found, index));
  return { columns, rows: found.map((row) => row.map((value, index) => (columns[index].type === "boolean" && value !== null ? value === 1 : value))), changed: null, truncated };
}

function guessed(name, found, index) {
  if (name === "_deleted") return column(name, "boolean", "Boolean");
  const values = found.map((row) => row[index]).filter((value) => value !== null);
  if (values.length > 0 && values.every((value) => typeof value === "number")) {
    return values.every(Number.isInteger) ? column(name, "integer", "Int64") : column(name, "number", "Float64");
  }
  return values.length > 0 && values.every((value) => /^\d{4}-\d\d-\d\d$/.test(value)) ? column(name, "date", "Date32") : column(name, "text", "Utf8");
}

function file(accept, answer) {
  const names = answer.columns.map(({ name }) => name);
  if (accept === "text/csv") return [names, ...answer.rows].map((row) => row.join(",")).join("\n") + "\n";
  if (accept === "application/x-ndjson") return answer.rows.map((row) => JSON.stringify(Object.fromEntries(row.map((value, index) => [names[index], value])))).join("\n") + "\n";
  // Not Arrow nor Parquet: bytes that begin as those do.
  return accept.endsWith("parquet") ? Buffer.from("PAR1 mock PAR1") : Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
}

function slow(running, id) {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, 30_000);
    if (id) {
      running.set(id, () => {
        clearTimeout(timer);
        fail(failure(499, "57014", "the statement was cancelled"));
      });
    }
  });
}

function failure(status, sqlstate, message, hint = null, position = null) {
  return Object.assign(new Error(message), { status, body: { error: { sqlstate, message, hint, position } } });
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

function send(response, status, type, content, policy = CONTENT_SECURITY_POLICY) {
  response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff" });
  response.end(content);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startMock(7878);
  console.log(url);
}
