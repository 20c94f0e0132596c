// The page in a browser, feature by feature.
//
// TIDEMILL_URL   the server to test, which serves the corpus tables that README.md names. Without it: the mock of this folder.
// CHROMIUM       the browser. Default: /usr/bin/chromium
// SCREENSHOTS    a folder for pictures. Default: none are made.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { faintTexts, unnamedControls } from "./page_checks.mjs";

const SCREENSHOTS = process.env.SCREENSHOTS;
const VARIANTS = [
  { name: "1600 px, light", width: 1600, height: 900, colorScheme: "light" },
  { name: "1600 px, dark", width: 1600, height: 900, colorScheme: "dark" },
  { name: "360 px, light", width: 360, height: 740, colorScheme: "light" },
  { name: "360 px, dark", width: 360, height: 740, colorScheme: "dark" },
];

/** What there is to see in the tables of the mock, and in those of the corpus. */
const MOCK = {
  table: "customers", text: "CITY", number: "CREDIT", date: "SINCE", key: "ID", lastRow: "3000",
  long: { table: "customers", column: "NOTES", part: "Wants the catalogue" },
  nulls: { table: "customers", text: "NOTES" },
  slow: "SELECT COUNT(*) AS slow FROM customers",
  huge: "ten_million", deleted: "returns", copied: "customers",
};
const CORPUS = {
  table: "upd_cdx", text: "CODE", number: "NUM", date: "DAT", key: "ID", lastRow: null,
  long: { table: "memo_dbt", column: "NOTE", part: "grow grow" },
  nulls: { table: "types_vfp", text: "C10" },
  slow: "SELECT COUNT(*) AS n FROM big_cdx a JOIN big_cdx b ON a.AMT < b.AMT AND a.CODE || b.CODE LIKE '%Z%Z%Z%'",
  huge: "big_cdx", deleted: "upd_cdx", copied: "big_cdx",
};

let mock;
let url;
let browser;
let data;
let names;

before(async () => {
  mock = process.env.TIDEMILL_URL ? undefined : await (await import("./mock_server.mjs")).startMock();
  url = process.env.TIDEMILL_URL?.replace(/\/*$/, "/") ?? mock.url;
  const catalog = await (await fetch(`${url}tables`)).json();
  names = catalog.schemas.flatMap(({ name, tables }) => tables.map((table) => (name === (catalog.default ?? "main") || table.name.startsWith(`${name}.`) ? table.name : `${name}.${table.name}`)));
  data = names.includes("customers") ? MOCK : CORPUS;
  for (const table of [data.table, data.long.table, data.nulls.table, data.huge]) assert.ok(names.includes(table), `${table} is not served: ${names}`);
  if (SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  await mock?.close();
});

test("the server forbids everything that the page does not need", async () => {
  const response = await fetch(url);
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /style-src 'self'(;|$)/);
  assert.doesNotMatch(policy, /unsafe/);
  const report = (await fetch(`${url}reports/books.json`)).headers.get("content-security-policy") ?? "";
  assert.match(report, /(^|;)\s*sandbox/, "a report is opened outside of a frame too");
  assert.doesNotMatch(report, /allow-scripts|allow-same-origin/);
  for (const file of ["console.js", "console.css"]) assert.equal((await fetch(url + file)).status, 200, file);
});

for (const variant of VARIANTS) {
  describe(variant.name, () => {
    let context;
    let page;
    let problems;
    const narrow = variant.width < 700;

    before(async () => {
      context = await browser.newContext({
        viewport: { width: variant.width, height: variant.height },
        colorScheme: variant.colorScheme,
        permissions: ["clipboard-read", "clipboard-write"],
        acceptDownloads: true,
      });
      await context.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
      });
      page = await context.newPage();
      problems = [];
      page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
      page.on("console", (message) => {
        // The browser itself notes every answer that is an error. Those of statements are what some tests are about.
        // A cancelled statement may have ended by itself in the meantime.
        const { url: about } = message.location();
        const refused = (/status of (400|408|499)/.test(message.text()) && /\/(sql|copies)$/.test(about)) || (/status of 404/.test(message.text()) && /\/sql\/[0-9a-f-]{36}$/.test(about));
        if (["error", "warning"].includes(message.type()) && !refused) problems.push(`${message.type()}: ${message.text()}`);
      });
      page.on("request", (request) => {
        if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) problems.push(`request: ${request.url()}`);
      });
    });

    after(async () => {
      await context?.close();
      assert.deepEqual(problems, []);
    });

    /** Leaves the page in the state that the name says: checks its colours and its width, and takes a picture. */
    async function look(name) {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${name}: the page is ${wide} px wider than the window`);
      assert.deepEqual(await page.evaluate(faintTexts), [], `${name}: contrast`);
      assert.deepEqual(await page.evaluate(unnamedControls), [], `${name}: names of controls`);
      if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${variant.width}-${variant.colorScheme}-${name}.png`) });
      assert.deepEqual(problems, [], name);
    }

    const open = async (hash) => {
      await page.goto("about:blank");
      await page.goto(url + hash);
      await page.locator(".tables li a").first().waitFor({ state: "attached" });
    };
    const fillEditor = (sql) => open(`#sql=${encodeURIComponent(sql)}`);
    const editorText = () => page.locator(".cm-content").evaluate((node) => [...node.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));
    const runAll = async () => {
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.locator(".result .answers, .result .error").waitFor();
    };
    const visibleGrid = () => page.locator(".grid:visible");

    test("lists the tables, finds one, and opens it by keyboard", async () => {
      await open("");
      if (narrow) {
        await page.locator(".tables").waitFor({ state: "hidden" });
        await page.getByRole("button", { name: "Tables" }).click();
      }
      await page.getByRole("navigation", { name: "Tables" }).waitFor();
      for (const name of names) assert.equal(await page.locator(`.tables a[data-path="${name}"]`).count(), 1, name);
      await page.waitForTimeout(250);
      await look("tables");
      await page.getByRole("searchbox").fill(data.table.slice(0, 5).toUpperCase());
      assert.ok((await page.locator(".tables li a").count()) < names.length || names.length === 1);
      await page.getByRole("searchbox").press("ArrowDown");
      await page.locator(`.tables a[data-path="${data.table}"]`).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: data.table, exact: true }).waitFor();
      assert.match(await page.title(), new RegExp(data.table));
      assert.equal(await page.locator(`.tables a[aria-current="page"]`).getAttribute("data-path"), data.table);
      if (narrow) await page.locator(".tables").waitFor({ state: "hidden" });
    });

    test("shows what the columns hold", async () => {
      await open(`#table=${data.table}`);
      await page.getByRole("button", { name: "Compute again" }).waitFor({ timeout: 30_000 });
      const row = (column) => page.locator(".columns-table tbody tr", { has: page.getByRole("rowheader", { name: column, exact: true }) });
      const cell = (column, name) => row(column).locator(`.${name}`).textContent();
      const number = (text) => Number(text.replace(/\(.*/, "").replace(/[^0-9.-]/g, ""));
      assert.equal(await row(data.number).locator(".histogram .bar").count(), 16);
      assert.equal(await row(data.date).locator(".histogram .bar").count(), 16);
      assert.ok((await row(data.text).locator(".frequent li").count()) > 1);
      assert.ok(number(await cell(data.key, "distinct")) > 100);
      assert.match(await cell(data.date, "least"), /^\d{4}-\d\d-\d\d$/);
      const label = await row(data.number).locator(".histogram").getAttribute("aria-label");
      const bars = label.split(": ")[1].split(", ").reduce((sum, part) => sum + Number(part), 0);
      const rows = number(/· ([\d\u202f]+) rows/.exec(await page.locator(".facts").textContent())[1]);
      assert.equal(bars + number(await cell(data.number, "nulls")), rows, "every value is in one bar");
      await look("columns");
    });

    test("shows rows, with NULL and the empty text apart", async () => {
      await open(`#table=${data.nulls.table}&tab=rows`);
      await visibleGrid().locator(".null").first().waitFor();
      if (data === MOCK) assert.ok((await visibleGrid().locator(".empty").count()) > 0 || narrow);
      await open(`#table=${data.table}&tab=rows`);
      const grid = visibleGrid();
      await grid.locator(".grid-row:not([data-waiting])").first().waitFor();
      const align = (column) =>
        grid.evaluate((node, name) => {
          const at = [...node.querySelectorAll(".grid-head")].find((head) => head.querySelector(".grid-name").textContent === name)?.getAttribute("aria-colindex");
          return at ? getComputedStyle(node.querySelector(`.grid-cell[aria-colindex="${at}"]`)).textAlign : null;
        }, column);
      assert.equal(await align(data.key), "right");
      assert.notEqual(await align("NAME"), "right");
      await look("rows");
      // The last row, by the keyboard.
      const count = Number(await grid.getAttribute("aria-rowcount")) - 1;
      await grid.focus();
      await page.keyboard.press("Control+End");
      await page.waitForFunction((index) => document.querySelector(`.grid-row[aria-rowindex="${index}"]:not([data-waiting])`), count + 1);
      await page.keyboard.press("Home");
      const active = await grid.getAttribute("aria-activedescendant");
      const value = await page.locator(`[id="${active}"]`).textContent();
      if (data.lastRow) assert.equal(value, data.lastRow);
      const [{ answers }, sql] = [await ask(`SELECT * FROM "${data.table}" LIMIT 1 OFFSET ${count - 1}`), value];
      assert.equal(sql, String(answers[0].rows[0][0]), "the last row is the last row of the table");
      await page.keyboard.press("Control+Home");
      await page.waitForFunction(() => document.querySelector(".grid").scrollTop === 0);
    });

    test("scrolls through a long table", async () => {
      await open(`#table=${data.huge}&tab=rows`);
      const grid = visibleGrid();
      await grid.locator(".grid-row:not([data-waiting])").first().waitFor();
      const rows = Number(await grid.getAttribute("aria-rowcount")) - 1;
      const height = await grid.evaluate((node) => node.scrollHeight);
      assert.ok(height < 9_000_000);
      const firstLoaded = () =>
        grid.evaluate((node) => {
          const top = node.getBoundingClientRect().top + 40;
          const row = [...node.querySelectorAll(".grid-row:not([data-waiting])")].find((one) => one.getBoundingClientRect().bottom > top + 2 && one.getBoundingClientRect().top < top + 60);
          return row ? Number(row.getAttribute("aria-rowindex")) - 1 : null;
        });
      const settled = async () => {
        await page.waitForTimeout(350);
        await page.waitForFunction(() => document.querySelectorAll(".grid-row").length > 5 && !document.querySelector(".grid-row[data-waiting]"), null, { timeout: 20_000 });
        return firstLoaded();
      };
      await grid.evaluate((node) => (node.scrollTop = node.scrollHeight / 2));
      const middle = await settled();
      assert.ok(Math.abs(middle - rows / 2) < rows / 50, `row ${middle} of ${rows}`);
      await look("long");
      // A turn of the wheel moves by some rows wherever it is.
      await grid.hover();
      await page.mouse.wheel(0, 260);
      const next = await settled();
      assert.ok(next - middle >= 9 && next - middle <= 11, `${middle} -> ${next}`);
      await grid.evaluate((node) => (node.scrollTop = node.scrollHeight));
      await settled();
      assert.equal(await grid.locator(`.grid-row[aria-rowindex="${rows + 1}"]`).count(), 1);
      assert.ok((await page.locator(".grid-row").count()) < 80, "only the rows in view are in the document");
      await grid.evaluate((node) => (node.scrollTop = 0));
      assert.equal(await settled(), 1);
    });

    test("shows deleted records, and tells them apart", async () => {
      const { rows, records } = await (await fetch(`${url}tables/${data.deleted}`)).json();
      assert.ok(records > rows, `${data.deleted}: ${rows} rows, ${records} records`);
      const [{ columns, rows: all }] = (await ask(`SELECT * FROM "${data.deleted}"`, { deleted: true, limit: 100_000 })).answers;
      assert.equal(columns.at(-1).name, "_deleted");
      assert.equal(all.length, records);
      const marks = all.map((row) => row.at(-1));
      assert.equal(marks.filter(Boolean).length, records - rows);
      await open(`#table=${data.deleted}&tab=rows`);
      const grid = visibleGrid();
      await grid.locator(".grid-row:not([data-waiting])").first().waitFor();
      assert.equal(await grid.getAttribute("aria-rowcount"), String(rows + 1));
      const shown = page.getByRole("checkbox", { name: /^Show deleted records/ });
      assert.match(await page.locator(".rows-bar").textContent(), new RegExp(`\\(${records - rows}\\)$`));
      assert.equal(await grid.locator(".grid-row.deleted").count(), 0);
      await shown.focus();
      await page.keyboard.press("Space");
      await page.waitForFunction((count) => document.querySelector(".grid")?.getAttribute("aria-rowcount") === count, String(records + 1));
      assert.equal(await shown.evaluate((node) => document.activeElement === node), true, "the focus stays");
      const first = marks.indexOf(true);
      await grid.evaluate((node, top) => (node.scrollTop = top), Math.max(0, first - 3) * 26);
      const deleted = grid.locator(".grid-row.deleted");
      await deleted.first().waitFor();
      assert.equal(await deleted.first().getAttribute("aria-rowindex"), String(first + 2));
      assert.equal(await deleted.first().getByRole("rowheader").textContent(), `${first + 1} deleted`);
      assert.equal(await grid.locator(`.grid-row[aria-rowindex="${marks.indexOf(false) + 2}"].deleted`).count(), 0);
      const row = await grid.evaluate((node) => node.querySelector(".grid-row.deleted .grid-cell").textContent);
      assert.equal(row, all[first][0] === null ? "NULL" : String(all[first][0]));
      await look("deleted");
      await grid.focus();
      await page.keyboard.press("Control+End");
      await page.waitForFunction((index) => document.querySelector(`.grid-row[aria-rowindex="${index}"]:not([data-waiting])`), records + 1);
      await page.waitForTimeout(100);
      assert.equal(await grid.locator(".grid-head", { hasText: "_deleted" }).count(), 0);
      await shown.click();
      await page.waitForFunction((count) => document.querySelector(".grid")?.getAttribute("aria-rowcount") === count, String(rows + 1));
      await grid.locator(".grid-row:not([data-waiting])").first().waitFor();
      assert.equal(await grid.locator(".grid-row.deleted").count(), 0);
      await open(`#table=${data.nulls.table}&tab=rows`);
      const other = await (await fetch(`${url}tables/${data.nulls.table}`)).json();
      await visibleGrid().locator(".grid-row:not([data-waiting])").first().waitFor();
      assert.equal(await shown.isVisible(), other.records > other.rows);
    });

    test("shows long values in full", async () => {
      await open(`#table=${data.long.table}&tab=rows`);
      const grid = visibleGrid();
      await grid.locator(".grid-row:not([data-waiting])").first().waitFor();
      const column = await grid.evaluate((node) => node.getAttribute("aria-colcount"));
      assert.ok(Number(column) > 2);
      await grid.focus();
      const at = await headIndex(grid, data.long.column);
      for (let step = 2; step < at; step++) await page.keyboard.press("ArrowRight");
      const cell = grid.locator(`.grid-cell[aria-colindex="${at}"]`, { hasText: data.long.part }).first();
      await cell.click();
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      assert.ok((await dialog.locator(".value-text").textContent()).includes(data.long.part));
      await look("value");
      await dialog.getByRole("button", { name: "Copy" }).click();
      assert.ok((await page.evaluate(() => navigator.clipboard.readText())).includes(data.long.part));
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.equal(await grid.evaluate((node) => document.activeElement === node), true, "the focus is where it was");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
    });

    async function headIndex(grid, name) {
      for (let step = 0; step < 30; step++) {
        const at = await grid.evaluate((node, wanted) => [...node.querySelectorAll(".grid-head")].find((head) => head.querySelector(".grid-name").textContent === wanted)?.getAttribute("aria-colindex"), name);
        if (at) return Number(at);
        await page.keyboard.press("ArrowRight");
        await page.waitForTimeout(30);
      }
      throw new Error(`there is no column ${name}`);
    }

    test("opens tables of other schemas, and names that need quotes", async (t) => {
      const others = names.filter((name) => name.includes(".") || !/^\w+$/.test(name));
      if (others.length === 0) return t.skip("the server has no such table");
      for (const name of others) {
        await open(`#table=${encodeURIComponent(name)}`);
        await page.getByRole("heading", { name, exact: true }).waitFor();
        await page.getByRole("button", { name: /^Compute/ }).click();
        await page.getByRole("button", { name: "Compute again" }).waitFor({ timeout: 30_000 });
        assert.equal(await page.locator(".error-text").count(), 0);
        await page.getByRole("tab", { name: "Rows" }).click();
        await visibleGrid().locator(".grid-row:not([data-waiting])").first().waitFor();
        await page.getByRole("button", { name: "Query" }).click();
        await page.locator(".cm-content").waitFor();
        await runAll();
        await visibleGrid().locator(".grid-cell").first().waitFor();
      }
    });

    test("shows what inspect says", async () => {
      await open(`#table=${data.table}`);
      await page.getByRole("tab", { name: "Columns" }).focus();
      await page.keyboard.press("End");
      assert.equal(await page.getByRole("tab", { name: "Info" }).getAttribute("aria-selected"), "true");
      assert.match(await page.locator(".info-panel pre").textContent(), /format/);
      assert.match(page.url(), /tab=info$/);
      await look("info");
    });

    test("a link fills the editor and runs nothing", async () => {
      let posts = 0;
      await page.goto("about:blank");
      const countPost = (request) => (posts += request.method() === "POST");
      page.on("request", countPost);
      const sql = `SELECT 'ä&b=c#d' AS "x y",\n  1 + 1 AS n -- 100%`;
      await fillEditor(sql);
      await page.waitForTimeout(400);
      assert.equal(await editorText(), sql);
      assert.equal(posts, 0);
      page.off("request", countPost);
      await page.getByRole("button", { name: "Link" }).click();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(decodeURIComponent(link.split("#sql=")[1]), sql);
      await page.reload();
      await page.locator(".cm-content").waitFor();
      assert.equal(await editorText(), sql);
    });

    test("completes tables, columns and functions", async () => {
      await fillEditor("");
      await page.locator(".cm-content").click();
      const options = page.locator(".cm-tooltip-autocomplete li");
      const type = async (text) => {
        await page.keyboard.press("Control+a");
        await page.keyboard.type(text, { delay: 15 });
      };
      await type(`SELECT * FROM ${data.table.slice(0, 4)}`);
      await options.filter({ hasText: data.table }).first().waitFor();
      await page.waitForTimeout(120);
      await page.keyboard.press("Enter");
      assert.match(await editorText(), new RegExp(`FROM ${data.table}$`));
      await page.keyboard.type(" t WHERE t.");
      await options.filter({ hasText: data.date }).first().waitFor();
      await look("completion");
      await page.keyboard.press("Escape");
      await type(`SELECT SUBSTR`);
      await options.filter({ hasText: "SUBSTRING" }).first().waitFor();
      await page.keyboard.press("Escape");
    });

    test("runs several statements, and the selection alone", async () => {
      await fillEditor(`SELECT ${data.text}, COUNT(*) AS n FROM ${data.table} GROUP BY ${data.text} ORDER BY n DESC;\n-- all\nSELECT * FROM ${data.table};\nSELECT 7 AS seven`);
      await page.locator(".cm-content").focus();
      await page.keyboard.press("Control+Enter");
      const tabs = page.locator(".answer-tabs [role=tab]");
      await tabs.first().waitFor();
      assert.equal(await tabs.count(), 3);
      await tabs.nth(1).click();
      assert.match(await tabs.nth(1).textContent(), /\(1000\+?\)/);
      assert.match(await page.locator(".answer:visible .answer-facts").textContent(), /first 1\u202f000 rows · .*m?s/);
      await look("answers");
      await tabs.nth(1).focus();
      await page.keyboard.press("ArrowLeft");
      await page.locator(".grid:visible .grid-head").first().waitFor();
      assert.match(await page.locator(".grid:visible .grid-header").textContent(), new RegExp(`${data.text}text.*ninteger`));
      await page.locator(".cm-content").focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.press("Shift+Home");
      await page.keyboard.press("Control+Enter");
      await page.waitForFunction(() => !document.querySelector(".answer-tabs") && document.querySelector(".answers"));
      await page.locator(".grid:visible .grid-head", { hasText: "seven" }).waitFor();
      await fillEditor(`SELECT * FROM ${data.table}`);
      await page.locator("select[aria-label='Most rows to show']").selectOption("100");
      await runAll();
      assert.match(await page.locator(".answer-facts").textContent(), /first 100 rows/);
    });

    test("shows NULL, texts and numbers of an answer as they are", async () => {
      await fillEditor(`SELECT NULL AS a, '' AS b, '<b>x</b>' AS c, 1.50 AS d`);
      await runAll();
      const cells = page.locator(".grid:visible .grid-cell");
      await cells.nth(3).waitFor();
      assert.equal(await cells.nth(0).locator(".null").count(), 1);
      assert.equal(await cells.nth(1).locator(".empty").count(), 1);
      assert.equal(await cells.nth(2).textContent(), "<b>x</b>");
      assert.match(await cells.nth(3).textContent(), /^1\.50?$/);
    });

    test("underlines an error where it is", async () => {
      await fillEditor(`SELECT 1 AS one;\nSELECT nosuch\nFROM ${data.table}`);
      await runAll();
      assert.match(await page.locator(".result [role=alert]").textContent(), /nosuch/i);
      await page.locator(".cm-lintRange-error").waitFor();
      assert.equal(await page.locator(".cm-lintRange-error").textContent(), "nosuch");
      await look("error");
      await page.getByRole("button", { name: "Go to line 2, column 8" }).click();
      assert.equal(await page.evaluate(() => !!document.querySelector(".editor").shadowRoot.activeElement), true);
    });

    test("an error in the selection is underlined where it is in the text", async () => {
      const line = `SELECT nosuch FROM ${data.table}`;
      await fillEditor(`-- 𝄞\n${line}`);
      await page.locator(".cm-content").focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.press("Shift+Home");
      await page.keyboard.press("Control+Enter");
      await page.locator(".cm-lintRange-error").waitFor();
      assert.equal(await page.locator(".cm-lintRange-error").textContent(), "nosuch");
    });

    test("cancels, by the button and by Esc, and tells the time meanwhile", async () => {
      for (const way of ["button", "key"]) {
        await fillEditor(data.slow);
        await page.getByRole("button", { name: "Run", exact: true }).click();
        await page.waitForFunction(() => /^[1-9]\d* ms$|^\d+\.\d s$/.test(document.querySelector(".elapsed").textContent) && document.querySelector(".running"));
        await page.waitForTimeout(300);
        if (way === "button") {
          await look("running");
          await page.getByRole("button", { name: "Cancel" }).click();
        } else {
          await page.locator(".cm-content").focus();
          await page.keyboard.press("Escape");
        }
        await page.getByText("Cancelled.").waitFor({ timeout: 10_000 });
        assert.equal(await page.getByRole("button", { name: "Cancel" }).isDisabled(), true);
      }
    });

    test("keeps the statements that were run", async () => {
      await fillEditor("SELECT 41 + 1 AS answer");
      await runAll();
      await fillEditor("SELECT 2");
      await page.getByRole("button", { name: "History" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await look("history");
      await dialog.getByRole("button", { name: /41 \+ 1/ }).first().click();
      assert.equal(await editorText(), "SELECT 41 + 1 AS answer");
      const kept = await page.evaluate(() => {
        const runs = [...Array(150).keys()].map((at) => ({ sql: `SELECT ${at}`, at }));
        localStorage.setItem("tidemill.history", JSON.stringify(runs));
        return runs.length;
      });
      assert.equal(kept, 150);
      await runAll();
      await page.waitForFunction(() => JSON.parse(localStorage.getItem("tidemill.history")).length === 100);
      await page.evaluate(() => localStorage.setItem("tidemill.history", "{broken"));
      await runAll();
    });

    test("shows a plan as a tree", async () => {
      const join = `SELECT a.${data.text}, COUNT(*) AS n FROM ${data.table} a JOIN ${data.table} b ON a.${data.key} = b.${data.key} WHERE b.${data.number} > 5 GROUP BY a.${data.text}`;
      await fillEditor(`SELECT 1 AS one;\n${join}`);
      await page.getByRole("button", { name: "Explain" }).click();
      await page.locator(".plan-view").waitFor();
      assert.ok((await page.locator(".plan").count()) >= 1);
      const first = page.locator(".plan").first();
      assert.match(await first.locator("summary").first().textContent(), /Physical plan/);
      assert.ok((await first.locator("details.plan-node").count()) >= 1);
      assert.ok((await first.locator(".plan-field.pushed", { hasText: "filter" }).count()) >= 1);
      await look("plan");
      await page.getByRole("button", { name: "Collapse all" }).click();
      assert.equal(await first.locator(".leaf").first().isVisible(), false);
      await page.getByRole("button", { name: "Expand all" }).click();
      assert.equal(await first.locator(".leaf").first().isVisible(), true);
    });

    test("draws an answer", async () => {
      await fillEditor(`SELECT ${data.text}, COUNT(*) AS n FROM ${data.table} GROUP BY ${data.text} ORDER BY n DESC LIMIT 7`);
      await runAll();
      await page.getByRole("tab", { name: "Chart" }).click();
      await page.locator(".chart .bar").first().waitFor();
      assert.equal(await page.locator(".chart .bar").count(), 7);
      const heights = await page.locator(".chart .bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height));
      assert.deepEqual(heights, [...heights].sort((a, b) => b - a), "the bars have the order of the rows");
      assert.ok(heights[0] > heights[6]);
      await page.locator(".chart").focus();
      await page.keyboard.press("Home");
      assert.match(await page.locator(".chart-tip.shown").textContent(), /n: \d+/);
      await look("bar");
      await page.getByLabel("Kind").selectOption("Line");
      assert.equal(await page.locator(".chart .line").count(), 1);
      await fillEditor(`SELECT ${data.date}, ${data.number} FROM ${data.table} WHERE ${data.date} IS NOT NULL AND ${data.number} IS NOT NULL AND ${data.key} < 300`);
      await runAll();
      await page.getByRole("tab", { name: "Chart" }).click();
      await page.locator(".chart .line").waitFor();
      await look("line");
      await fillEditor(`SELECT ${data.key}, ${data.number} FROM ${data.table} WHERE ${data.key} < 300 AND ${data.number} IS NOT NULL`);
      await runAll();
      await page.getByRole("tab", { name: "Chart" }).click();
      await page.locator(".chart .dot").first().waitFor();
      assert.ok((await page.locator(".chart .dot").count()) > 50);
      await look("scatter");
    });

    test("downloads rows in every format", async () => {
      await fillEditor(`SELECT ${data.key}, ${data.text} FROM ${data.table} LIMIT 20`);
      await runAll();
      const begins = { csv: Buffer.from(data.key), jsonl: Buffer.from(`{"${data.key}":`), arrows: Buffer.from([0xff, 0xff, 0xff, 0xff]), parquet: Buffer.from("PAR1") };
      for (const [label, extension] of [["CSV", "csv"], ["JSON lines", "jsonl"], ["Arrow", "arrows"], ["Parquet", "parquet"]]) {
        await page.getByRole("button", { name: "Download" }).focus();
        await page.keyboard.press("Enter");
        if (extension === "csv") await look("download");
        const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: label }).press("Enter")]);
        assert.equal(file.suggestedFilename(), `rows.${extension}`);
        const bytes = await readFile(await file.path());
        assert.equal(bytes.subarray(0, begins[extension].length).compare(begins[extension]), 0, `${extension}: ${bytes.subarray(0, 20)}`);
        if (extension === "csv" || extension === "jsonl") assert.equal(bytes.toString().trim().split("\n").length, extension === "csv" ? 21 : 20);
      }
      await page.getByText(/rows\.parquet: .*, saved/).waitFor();
    });

    const dialog = () => page.getByRole("dialog", { name: "Copy" });
    const card = (target) => page.locator(".copy", { hasText: target }).first();
    const unique = (what) => `${what}_${variant.width}_${variant.colorScheme}_${Date.now().toString(36)}`;
    const done = (target) => page.locator(`.copy[data-state=done]`, { hasText: target }).first().waitFor({ timeout: 30_000 });

    test("copies a table, watches it, and links what came of it", async () => {
      const name = unique("all");
      await open(`#table=${data.copied}`);
      await page.getByRole("button", { name: "Copy…" }).focus();
      await page.keyboard.press("Enter");
      await dialog().waitFor();
      assert.equal(await dialog().getByLabel("Table", { exact: true }).inputValue(), `public.${data.copied}`);
      assert.equal(await dialog().getByLabel("As the table").inputValue(), data.copied);
      await dialog().getByLabel("Into the schema").selectOption("out");
      await dialog().getByLabel("Format").selectOption("parquet");
      assert.equal(await dialog().getByLabel("Verification").inputValue(), "full");
      await dialog().getByLabel("As the table").fill(name);
      await look("copy-dialog");
      await dialog().getByLabel("As the table").press("Enter");
      await page.getByRole("heading", { name: "Copies" }).waitFor();
      assert.match(page.url(), /#view=copies$/);
      await card(`out.${name}`).waitFor();
      if (mock) await card(`out.${name}`).getByText("Verifying…").waitFor();
      await done(`out.${name}`);
      const facts = await card(`out.${name}`).textContent();
      const [{ rows }] = (await ask(`SELECT COUNT(*) AS n FROM ${data.copied}`)).answers;
      assert.equal(Number(/([\d\u202f]+) rows/.exec(facts)[1].replace(/\D/g, "")), Number(rows[0][0]));
      assert.match(facts, /all values of \d+ columns agree/);
      await look("copies");
      await card(`out.${name}`).getByRole("link", { name: `out.${name}` }).click();
      await page.getByRole("heading", { name: `out.${name}`, exact: true }).waitFor();
      assert.equal(await page.locator(`.tables a[data-path="out.${name}"]`).count(), 1, "the list has the new table");
      // Once more, where a table of the name is.
      await open("#view=copies");
      await page.getByRole("button", { name: "New copy…" }).click();
      assert.equal(await page.evaluate(() => document.activeElement.tagName), "SELECT", "the table comes first");
      await dialog().getByLabel("Table", { exact: true }).selectOption(`public.${data.copied}`);
      await dialog().getByLabel("Into the schema").selectOption("out");
      await dialog().getByLabel("As the table").fill(name);
      await dialog().getByRole("button", { name: "Copy", exact: true }).click();
      await dialog().getByRole("alert").getByText("42P07").waitFor();
      await look("copy-exists");
      await dialog().getByLabel("Replace a table of this name").press("Space");
      await dialog().getByRole("button", { name: "Copy", exact: true }).click();
      await dialog().waitFor({ state: "detached" });
      await page.waitForFunction((target) => [...document.querySelectorAll(".copy[data-state=done]")].filter((node) => node.textContent.includes(target)).length === 2, `out.${name}`, { timeout: 30_000 });
      const before = await page.locator(".copy").count();
      await page.getByRole("button", { name: `Remove the copy to out.${name}` }).first().press("Enter");
      await page.waitForFunction((count) => document.querySelectorAll(".copy").length === count, before - 1);
      assert.equal(await page.evaluate(() => document.activeElement.tagName), "BUTTON", "the focus goes to another entry");
    });

    test("copies the rows of an answer", async () => {
      const name = unique("some");
      await fillEditor(`SELECT 1 AS one;\nSELECT ${data.key}, ${data.text} FROM ${data.table} LIMIT 20;`);
      await runAll();
      await page.locator(".answer:visible").getByRole("button", { name: "Copy…" }).click();
      await dialog().waitFor();
      assert.equal(await dialog().locator("pre").textContent(), `SELECT ${data.key}, ${data.text} FROM ${data.table} LIMIT 20`);
      await dialog().getByLabel("Into the schema").selectOption("out");
      await dialog().getByLabel("Format").selectOption("csv");
      assert.equal(await dialog().getByLabel("Verification").inputValue(), "count", "CSV has no types");
      await dialog().getByLabel("As the table").fill(name);
      await look("copy-answer");
      await page.keyboard.press("Enter");
      await done(`out.${name}`);
      assert.match(await card(`out.${name}`).textContent(), /20 rows.*the numbers of rows agree/);
      await page.keyboard.press("Escape");
      // A statement that changes something is no source.
      await fillEditor("EXPLAIN SELECT 1");
      await runAll();
      assert.equal(await page.getByRole("button", { name: "Copy…" }).count(), 0);
    });

    test("stops a copy, shows why one failed, and asks only while one runs", { skip: !!process.env.TIDEMILL_URL }, async () => {
      let asked = 0;
      const countAsked = (request) => (asked += request.method() === "GET" && request.url().endsWith("/copies"));
      const name = unique("slow");
      await open("#table=ten_million");
      await page.getByRole("button", { name: "Copy…" }).click();
      await dialog().getByLabel("Into the schema").selectOption("shop");
      assert.equal(await dialog().getByLabel("Format").isVisible(), false, "a database has no format");
      await dialog().getByLabel("As the table").fill(name);
      await page.keyboard.press("Enter");
      const slow = card(`shop.${name}`);
      await slow.waitFor();
      page.on("request", countAsked);
      await page.waitForFunction((target) => [...document.querySelectorAll(".copy")].some((node) => node.textContent.includes(target) && node.querySelector("progress").value > 300_000), `shop.${name}`);
      assert.ok(asked >= 1 && asked <= 4, `${asked} requests`);
      assert.match(await slow.textContent(), /of 10\u202f000\u202f000 rows \(\d+ %\) · [\d\u202f]+ rows\/s/);
      assert.match(await page.locator(".bar-link", { hasText: "Copies" }).textContent(), /Copies1 running/);
      await look("copy-running");
      const stop = slow.getByRole("button", { name: `Stop the copy to shop.${name}` });
      await stop.focus();
      await page.keyboard.press("Enter");
      await page.locator(".copy[data-state=stopped]", { hasText: `shop.${name}` }).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), `Remove the copy to shop.${name}`, "the focus stays");
      asked = 0;
      await page.waitForTimeout(1500);
      assert.equal(asked, 0, "nothing runs: nothing is asked");
      page.off("request", countAsked);
      await fillEditor("SELECT 'fails' AS a");
      await runAll();
      await page.getByRole("button", { name: "Copy…" }).click();
      const failing = unique("failing");
      await dialog().getByLabel("As the table").fill(failing);
      await page.keyboard.press("Enter");
      const failed = page.locator(".copy[data-state=failed]", { hasText: failing });
      await failed.waitFor();
      assert.match(await failed.textContent(), /22001.*too long.*parquet/);
      await look("copy-failed");
    });

    test("opens the reports of load tests", async () => {
      await open("");
      await page.getByRole("link", { name: "Load tests" }).click();
      await page.getByRole("link", { name: "books.json", exact: true }).waitFor();
      await look("reports");
      await page.getByRole("link", { name: "books.json", exact: true }).press("Enter");
      const frame = page.locator("iframe");
      await frame.waitFor();
      assert.match(page.url(), /#report=books\.json$/);
      assert.equal(await frame.getAttribute("sandbox"), "");
      await page.frameLocator("iframe").locator("body").getByText(/\w/).first().waitFor();
      await look("report");
      assert.ok((await frame.evaluate((node) => node.getBoundingClientRect().bottom)) > variant.height - 3, "the report fills the view");
      const link = page.getByRole("link", { name: "Open in a new tab" });
      assert.equal(await link.getAttribute("rel"), "noopener");
      const [tab] = await Promise.all([context.waitForEvent("page"), link.click()]);
      await tab.waitForLoadState();
      assert.match(tab.url(), /\/reports\/books\.json$/);
      await tab.close();
      // The address is a bookmark.
      await page.reload();
      await frame.waitFor();
      await open("#report=nosuch.json");
      await page.getByText("There is no report nosuch.json").waitFor();
    });

    test("the theme can be switched, and stays", async () => {
      await open("");
      const dark = () => page.evaluate(() => getComputedStyle(document.body).colorScheme === "dark" || (getComputedStyle(document.body).colorScheme.includes("light dark") && matchMedia("(prefers-color-scheme: dark)").matches));
      const was = await dark();
      await page.getByRole("button", { name: "Dark theme" }).click();
      assert.equal(await dark(), !was);
      await page.reload();
      await page.locator(".tables li a").first().waitFor({ state: "attached" });
      assert.equal(await dark(), !was);
      assert.deepEqual(await page.evaluate(faintTexts), []);
      await page.getByRole("button", { name: "Dark theme" }).click();
      assert.equal(await dark(), was);
    });

    test("everything can be reached by keyboard, with a visible focus", async () => {
      await fillEditor("SELECT 1 AS one");
      await runAll();
      await page.reload();
      await page.locator(".tables li a").first().waitFor({ state: "attached" });
      await runAll();
      await page.locator(".skip").focus();
      const seen = new Set();
      for (let step = 0; step < 60 + names.length; step++) {
        await page.keyboard.press("Tab");
        const focus = await page.evaluate(async () => {
          const node = document.activeElement;
          if (!node || node === document.body) return null;
          // The editor notes its focus a moment later.
          if (node.shadowRoot) await new Promise((done) => setTimeout(done, 100));
          const style = getComputedStyle(node);
          const after = getComputedStyle(node.shadowRoot?.querySelector(".cm-editor") ?? node, "::after");
          const visible = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) || parseFloat(after.borderTopWidth) >= 2;
          return { name: node.getAttribute("aria-label") ?? node.textContent.trim().slice(0, 30), className: node.getAttribute("class"), visible };
        });
        if (!focus) break;
        assert.ok(focus.visible, `no visible focus: ${JSON.stringify(focus)}`);
        seen.add(focus.className?.includes("editor") ? "editor" : focus.name);
      }
      for (const name of ["Run", "Explain", "History", "Link", "editor", "Height of the editor", "Grid", "Download", "Answer 1", "Dark theme"]) assert.ok(seen.has(name), `${name} is not in ${[...seen]}`);
      await page.getByRole("separator").focus();
      const before = await page.locator(".editor").evaluate((node) => node.clientHeight);
      await page.keyboard.press("ArrowDown");
      assert.ok((await page.locator(".editor").evaluate((node) => node.clientHeight)) > before);
      await page.keyboard.press("ArrowUp");
    });

    test("tells when the server has gone", async () => {
      await open("");
      await page.route("**/sql", (route) => route.abort());
      await page.locator(".cm-content").click();
      await page.keyboard.press("Control+a");
      await page.keyboard.type("SELECT 1");
      await page.keyboard.press("Control+Enter");
      await page.getByText("The server cannot be reached").waitFor();
      await page.unroute("**/sql");
      problems.splice(0, problems.length, ...problems.filter((problem) => !/net::ERR_FAILED/.test(problem)));
    });
  });
}

test("4K: the page fills the window", async () => {
  const page = await browser.newPage({ viewport: { width: 3840, height: 2160 } });
  await page.goto(`${url}#table=${data.table}&tab=rows`);
  await page.locator(".grid-row:not([data-waiting])").first().waitFor();
  assert.ok((await page.locator(".grid").evaluate((node) => node.clientWidth)) > 3300);
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, "3840-light-rows.png") });
  await page.close();
});

test("the page works where the browser keeps nothing, and with less motion", async () => {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await context.addInitScript(() => Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("no", "SecurityError"); } }));
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${url}#sql=${encodeURIComponent("SELECT 1 AS one")}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".grid-cell").first().waitFor();
  assert.equal(await page.locator(".tables").evaluate((node) => getComputedStyle(node).transitionDuration), "0s");
  assert.deepEqual(errors, []);
  await context.close();
});

test("an older server, or one that may not be written to, has no copies and no reports", async () => {
  const page = await browser.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.route(/\/reports$/, (route) => route.fulfill({ status: 404, json: { error: { sqlstate: "42704", message: "there is nothing at this path", hint: null, position: null } } }));
  await page.route(/\/tables$/, async (route) => {
    const response = await route.fetch();
    const { formats: _, schemas, ...rest } = await response.json();
    await route.fulfill({ json: { ...rest, schemas: schemas.map(({ name, tables }) => ({ name, tables })) } });
  });
  await page.goto(`${url}#table=${data.table}`);
  await page.getByRole("button", { name: "Download" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Copy…" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Copies" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Load tests" }).count(), 0);
  await page.goto(`${url}#view=copies`);
  await page.getByText("No copies can be made").waitFor();
  await page.goto(`${url}#view=reports`);
  await page.getByText("There are no reports").waitFor();
  assert.ok(!asked.includes("/copies"));
  await page.close();
});

async function ask(sql, { deleted, limit = 1000 } = {}) {
  const response = await fetch(`${url}sql`, { method: "POST", headers: { "Content-Type": "application/json", "X-Tidemill": "1", Accept: "application/json" }, body: JSON.stringify({ sql, limit, deleted }) });
  assert.equal(response.status, 200, sql);
  return response.json();
}
