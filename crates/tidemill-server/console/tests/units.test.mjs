// The parts of the page that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = fileURLToPath(new URL("../src/", import.meta.url));

async function load(module) {
  const built = await build({ entryPoints: [`${source}${module}.ts`], bundle: true, write: false, format: "esm", platform: "neutral", target: "es2022" });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString("base64")}`);
}

test("statements end at semicolons outside of texts, names and comments", async () => {
  const { statements, statementAt } = await load("sql_text");
  const check = (text, expected) => assert.deepEqual(statements(text).map(({ text }) => text), expected, text);
  check("", []);
  check(" ; ;-- nothing\n", []);
  check("SELECT 1", ["SELECT 1"]);
  check("SELECT 1; SELECT 2;\n", ["SELECT 1", "SELECT 2"]);
  check("SELECT ';', \"a;b\"; SELECT 'it''s;'", ["SELECT ';', \"a;b\"", "SELECT 'it''s;'"]);
  check("SELECT 1 -- a; b\n; /* c; d */ SELECT 2", ["SELECT 1 -- a; b", "/* c; d */ SELECT 2"]);
  check("SELECT 'open; SELECT 2", ["SELECT 'open; SELECT 2"]);
  check("SELECT 1 // ADS; too\n; SELECT 2", ["SELECT 1 // ADS; too", "SELECT 2"]);
  const text = "SELECT 1;\nSELECT 2;\n";
  const at = (place) => statementAt(text, place)?.text;
  assert.deepEqual([at(0), at(8), at(10), at(text.length)], ["SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2"]);
  for (const { from, to, text: part } of statements(text)) assert.equal(text.slice(from, to), part);
});

test("only statements that read are run again for a download", async () => {
  const { reads } = await load("sql_text");
  for (const text of ["SELECT 1", "  (select 1)", "-- a\nWITH a AS (SELECT 1) SELECT * FROM a", "/* x */ VALUES (1)"]) assert.ok(reads(text), text);
  for (const text of ["DELETE FROM a", "-- SELECT\nINSERT INTO a VALUES (1)", "", "SELECTED", "EXECUTE PROCEDURE p()"]) assert.ok(!reads(text), text);
});

test("only queries are sources of copies", async () => {
  const { isQuery } = await load("sql_text");
  for (const text of ["SELECT 1", "(select 1)", "-- a\nWITH a AS (SELECT 1) SELECT * FROM a", "VALUES (1)"]) assert.ok(isQuery(text), text);
  for (const text of ["EXPLAIN SELECT 1", "SHOW TABLES", "DELETE FROM a", "selection", ""]) assert.ok(!isQuery(text), text);
});

test("tables and aliases of a statement", async () => {
  const { tablesIn } = await load("sql_text");
  const check = (text, expected) => assert.deepEqual(tablesIn(text).map(({ path, alias }) => (alias ? `${path} ${alias}` : path)), expected, text);
  check("SELECT * FROM a", ["a"]);
  check("SELECT * FROM a x JOIN shop.b AS y ON x.i = y.i WHERE 1 = 1", ["a x", "shop.b y"]);
  check("SELECT * FROM a WHERE b = 1", ["a"]);
  check('UPDATE "odd name" SET a = 1', ["odd name"]);
  check('SELECT * FROM "Shop"."My ""b""" z', ['Shop.My "b" z']);
  check("INSERT INTO t SELECT * FROM [u v]", ["t", "u v"]);
});

test("names and texts are quoted", async () => {
  const { quote, literal, tableSql, tablePath, offsetOf } = await load("sql_text");
  assert.equal(quote('a "b"'), '"a ""b"""');
  assert.equal(literal("it's"), "'it''s'");
  assert.equal(tableSql({ schema: "main", name: "a.b" }), '"a.b"');
  assert.equal(tableSql({ schema: "shop", name: "a" }), '"shop"."a"');
  assert.equal(tablePath({ schema: "shop", name: "a" }), "shop.a");
  assert.equal(offsetOf("a𝄞b", 3), 3, "the server counts characters, the editor UTF-16 units");
  assert.equal(offsetOf("ab", 9), 2);
});

test("histograms have edges that hold every value", async () => {
  const { bucketEdges, histogramSql } = await load("statistics");
  const column = (type) => ({ name: "c", type, arrow: "", nullable: true });
  const check = (type, least, highest, length, first, last) => {
    const edges = bucketEdges(column(type), least, highest);
    assert.equal(edges?.length, length, `${type} ${least}..${highest}: ${edges}`);
    assert.equal(edges[0], first);
    assert.equal(edges.at(-1), last);
    const numbers = edges.map((edge) => (type === "date" || type === "timestamp" ? Date.parse(edge) : type === "time" ? Date.parse(`1970-01-01T${edge}Z`) : Number(edge)));
    for (let index = 1; index < numbers.length - 1; index++) assert.ok(numbers[index] > numbers[index - 1] && numbers[index] <= numbers.at(-1), String(edges));
  };
  check("integer", 0, 1599, 17, "0", "1599");
  check("integer", 1, 3, 4, "1", "3");
  check("integer", 5, 5, 2, "5", "5");
  check("integer", "0", "90071992547409930", 17, "0", "90071992547409940");
  check("decimal", "-374.89", "1578.28", 17, "-374.89", "1578.28");
  check("number", 1e-9, 2e-9, 17, "1e-9", "2e-9");
  check("date", "2020-01-01", "2020-01-03", 4, "2020-01-01", "2020-01-03");
  check("date", "1990-01-01", "2024-12-27", 17, "1990-01-01", "2024-12-27");
  check("timestamp", "2020-01-01T00:00:00.5", "2020-01-03 00:00:00", 17, "2020-01-01T00:00:00", "2020-01-03T00:00:00");
  check("time", "00:02:56.090", "23:51:19", 17, "00:02:56", "23:51:19");
  for (const [type, least, highest] of [["text", "a", "b"], ["number", null, null], ["number", "NaN", 1], ["date", "?", "?"], ["boolean", false, true]]) {
    assert.equal(bucketEdges(column(type), least, highest), null);
  }
  assert.equal(
    histogramSql('"t"', column("date"), ["2020-01-01", "2020-01-02", "2020-01-03"]),
    `SELECT CASE WHEN "c" < '2020-01-02' THEN 0 ELSE 1 END AS b, COUNT(*) AS n FROM "t" WHERE "c" IS NOT NULL GROUP BY CASE WHEN "c" < '2020-01-02' THEN 0 ELSE 1 END`,
  );
});

test("a chart suits the types of the columns", async () => {
  const { choose } = await load("chart_choice");
  const check = (types, expected) => assert.deepEqual(choose(types.map((type, index) => ({ name: String(index), type, arrow: "", nullable: true }))), expected, String(types));
  check(["text", "integer"], { kind: "bar", x: 0, y: 1 });
  check(["decimal", "text"], { kind: "bar", x: 1, y: 0 });
  check(["date", "number"], { kind: "line", x: 0, y: 1 });
  check(["integer", "timestamp", "text"], { kind: "line", x: 1, y: 0 });
  check(["integer", "number", "number"], { kind: "scatter", x: 0, y: 1 });
  check(["integer"], { kind: "bar", x: 0, y: 0 });
  check(["text", "binary"], null);
  check([], null);
});

test("axes hold the values between round marks", async () => {
  const { numberAxis, timeAxis } = await load("axis");
  for (const [least, highest] of [[0, 1], [3, 997], [-12.5, 80], [1e-7, 3e-7], [5, 5], [0, 0], [-4, -4], [1e12, 1e12 + 5]]) {
    for (const zero of [true, false]) {
      const axis = numberAxis(least, highest, 6, zero);
      assert.ok(axis.from <= least && axis.to >= highest && axis.from < axis.to, JSON.stringify([least, highest, axis]));
      assert.ok(axis.ticks.length >= 2 && axis.ticks.length < 20, JSON.stringify(axis));
      if (zero) assert.ok(axis.from <= 0 && axis.to >= 0);
    }
  }
  const date = { name: "d", type: "date", arrow: "Date32", nullable: true };
  const years = timeAxis(date, Date.parse("1990-03-01"), Date.parse("2024-12-27"), 8).ticks;
  assert.deepEqual(years.map(({ label }) => label), ["1995", "2000", "2005", "2010", "2015", "2020"]);
  const days = timeAxis(date, Date.parse("2024-01-01"), Date.parse("2024-01-05"), 8).ticks;
  assert.equal(days[0].label, "2024-01-01");
  assert.ok(timeAxis(date, Date.parse("0001-01-01"), Date.parse("9999-12-31"), 8).ticks.length < 20);
});

test("a list of any length fits into the scroll bar, and every row can be reached", async () => {
  const { Scale } = await load("scale");
  for (const rows of [0, 1, 1000, 307_000, 10_000_000, 2_000_000_000]) {
    const scale = new Scale(rows * 26, 600);
    assert.ok(scale.real <= 8_000_000);
    assert.equal(scale.toVirtual(0), 0);
    assert.ok(Math.abs(scale.toVirtual(scale.realEnd) - scale.virtualEnd) < 1e-3);
    for (let part = 0; part <= 1; part += 0.05) {
      const place = scale.virtualEnd * part;
      assert.ok(Math.abs(scale.toVirtual(scale.toReal(place)) - place) < 1e-2, `${rows} ${part}`);
    }
  }
  const scale = new Scale(10_000_000 * 26, 600);
  assert.equal(scale.move(1_000_000, 50_000, 50_100), 1_000_100, "a turn of the wheel moves by its pixels");
  assert.ok(scale.move(0, 0, 4_000_000) > 100_000_000, "a drag goes to the place in proportion");
});

test("plans are trees, and what a store does stays in one piece", async () => {
  const { planTree } = await load("plan");
  const [root, ...others] = planTree(
    [
      "ProjectionExec: expr=[city@0 as city, count(Int64(1))@1 as EXPR]",
      "  SortExec: expr=[count(Int64(1))@1 ASC], preserve_partitioning=[false]",
      '    DataSourceExec: SqliteScan: server=sqlite:shop.db/orders, query=SELECT "city", count(*) FROM "orders" WHERE "a" = 1, connections=4',
      "  CooperativeExec",
      "",
    ].join("\n"),
  );
  assert.equal(others.length, 0);
  assert.deepEqual(root.children.map(({ name }) => name), ["SortExec", "CooperativeExec"]);
  assert.deepEqual(root.fields, [{ key: "expr", value: "[city@0 as city, count(Int64(1))@1 as EXPR]" }]);
  assert.deepEqual(root.children[0].children[0].fields, [
    { key: "", value: "SqliteScan" },
    { key: "server", value: "sqlite:shop.db/orders" },
    { key: "query", value: 'SELECT "city", count(*) FROM "orders" WHERE "a" = 1' },
    { key: "connections", value: "4" },
  ]);
  const [scan] = planTree("DataSourceExec: XbaseScan: file=b.dbf, columns=[ID, NAME], filter=A@1 > 5.00 AND B = 'x, y', limit=10");
  assert.deepEqual(scan.fields.map(({ key, value }) => `${key}=${value}`), ["=XbaseScan", "file=b.dbf", "columns=[ID, NAME]", "filter=A@1 > 5.00 AND B = 'x, y'", "limit=10"]);
});

test("links keep every character of a statement", async () => {
  const { COPIES_LINK, place, REPORTS_LINK, reportLink, sqlLink, tableLink } = await load("link");
  for (const sql of ["SELECT 1", "SELECT 'a&b=c#d%' -- é\n𝄞", "100%"]) assert.deepEqual(place(sqlLink(sql)), { kind: "sql", sql });
  assert.deepEqual(place(tableLink("shop.a&b", "rows")), { kind: "table", path: "shop.a&b", tab: "rows" });
  assert.deepEqual(place(reportLink("a&b 1.json")), { kind: "reports", name: "a&b 1.json" });
  assert.deepEqual([place(COPIES_LINK), place(REPORTS_LINK)], [{ kind: "copies" }, { kind: "reports", name: null }]);
  assert.deepEqual(place(""), { kind: "sql", sql: null });
  assert.deepEqual(place("#sql=%zz"), { kind: "sql", sql: "%zz" });
});

test("sizes and times are short texts", async () => {
  const { bytesText, count, counted, durationText } = await load("value");
  assert.deepEqual([999, 1234, 12_345, 999_999, 1_400_131, 3e12].map(bytesText), ["999 bytes", "1.2 kB", "12 kB", "1.0 MB", "1.4 MB", "3.0 TB"]);
  assert.equal(count(1234567), "1\u202f234\u202f567");
  assert.equal(counted(1, "row"), "1 row");
  assert.deepEqual([1.25, 120.4, 61_000, 1500].map(durationText), ["1.3 ms", "120 ms", "1 min 1 s", "1.5 s"]);
});

test("copies are watched while one runs, and not otherwise", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked = [];
  let answer = { copies: [] };
  Object.assign(globalThis, { document: { baseURI: "http://server/#view=copies" }, window: globalThis });
  globalThis.fetch = async (url, { method = "GET" } = {}) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    if (answer instanceof Error) throw answer;
    const body = JSON.stringify(await answer);
    return body === "null" ? new Response(null, { status: 204 }) : new Response(body);
  };
  const settled = () => new Promise((done) => setImmediate(done));
  const pass = async (ms) => (t.mock.timers.tick(ms), await settled());
  const { Copies } = await load("copies");
  const told = [];
  let made = 0;
  const copies = new Copies(() => {}, () => (made += 1), (text) => told.push(text));
  const copy = (id, state, rows = 1) => ({ id, source: "public.a", target: `out.${id}`, state, rows, expected: 9, bytes: null, seconds: 1, compared_columns: null, error: null });
  answer = { copies: [copy("old", "done")] };
  await copies.refresh();
  await pass(60_000);
  assert.deepEqual([asked.splice(0), told, made], [["GET /copies"], [], 0], "what had ended before is no news");
  answer = copy("a", "running");
  await copies.start({});
  assert.deepEqual([copies.all.map(({ id }) => id), copies.running], [["a", "old"], 1]);
  answer = { copies: [copy("a", "running", 5), copy("old", "done")] };
  for (let second = 0; second < 3; second++) await pass(1000);
  assert.deepEqual(asked.splice(0), ["POST /copies", "GET /copies", "GET /copies", "GET /copies"]);
  assert.equal(copies.all[0].rows, 5);
  answer = new TypeError("gone");
  await pass(1000);
  assert.match(String(copies.error), /cannot be reached/);
  await pass(4000);
  assert.equal(asked.splice(0).length, 1, "a server that is gone is asked less often");
  answer = { copies: [copy("a", "done", 9), copy("old", "done")] };
  await pass(1000);
  await pass(60_000);
  assert.deepEqual([asked.splice(0), told.splice(0), made, copies.error], [["GET /copies"], ["Copied to out.a"], 1, null]);
  // An answer that was on its way when an entry was removed does not bring it back.
  let late;
  answer = new Promise((done) => (late = done));
  const refreshed = copies.refresh();
  await settled();
  answer = null;
  await copies.end(copies.all[0]);
  late({ copies: [copy("a", "done"), copy("old", "done")] });
  await refreshed;
  assert.deepEqual(copies.all.map(({ id }) => id), ["old"]);
  answer = copy("b", "failed");
  await copies.start({});
  assert.deepEqual([told, made], [["The copy to out.b failed"], 1]);
});

test("pages are fetched where the scroll bar rests, kept up to a bound, and end where the rows end", async () => {
  const asked = [];
  const TABLE_ROWS = 30_000;
  Object.assign(globalThis, { document: { baseURI: "http://server/" }, window: globalThis });
  globalThis.fetch = async (_, { body }) => {
    const { sql } = JSON.parse(body);
    asked.push(sql);
    const page = /^SELECT \* FROM "t" LIMIT 200 OFFSET (\d+)$/.exec(sql);
    const rows = page ? Array.from({ length: Math.max(0, Math.min(200, TABLE_ROWS - Number(page[1]))) }, (_, at) => [Number(page[1]) + at]) : [[TABLE_ROWS]];
    return new Response(JSON.stringify({ answers: [{ columns: [], rows, changed: null, truncated: false, ms: 1 }] }));
  };
  const { Pages } = await load("pages");
  const rest = () => new Promise((done) => setTimeout(done, 120));
  // The table is said to have more rows than it has.
  const pages = new Pages([], 1_000_000, '"t"', () => {}, assert.fail);
  pages.inView(0, 40);
  await rest();
  assert.deepEqual(asked.splice(0), ['SELECT * FROM "t" LIMIT 200 OFFSET 0']);
  assert.deepEqual([pages.row(0), pages.row(199), pages.row(200)], [[0], [199], undefined]);
  for (const first of [5000, 9000, 12_390]) pages.inView(first, first + 30);
  await rest();
  assert.deepEqual(asked.splice(0).map((sql) => sql.split("OFFSET ")[1]), ["12200", "12400"], "what only passes by is not fetched");
  pages.inView(999_970, 999_999);
  await rest();
  assert.equal(pages.length, TABLE_ROWS);
  assert.equal(asked.splice(0).filter((sql) => sql.includes("COUNT")).length, 1);
  for (let page = 0; page < 100; page++) {
    pages.inView(page * 200, page * 200 + 10);
    await new Promise((done) => setTimeout(done, 65));
  }
  await rest();
  const kept = Array.from({ length: 150 }, (_, page) => pages.row(page * 200)).filter(Boolean).length;
  assert.ok(kept > 30 && kept <= 60, `${kept} pages are kept`);
  const deleted = new Pages([{ name: "ID" }], 2, '"t"', () => {}, assert.fail, true);
  globalThis.fetch = async (_, { body }) => {
    assert.equal(JSON.parse(body).deleted, true);
    return new Response(JSON.stringify({ answers: [{ columns: [], rows: [[7, false], [8, true]], changed: null, truncated: false, ms: 1 }] }));
  };
  assert.equal(deleted.deleted(1), false, "nothing is known yet");
  deleted.inView(0, 1);
  await rest();
  assert.deepEqual([deleted.deleted(0), deleted.deleted(1), deleted.length], [false, true, 2]);
});
