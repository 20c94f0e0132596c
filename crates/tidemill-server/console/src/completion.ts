/** Completion of tables, columns, functions and keywords. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Column } from "./api";
import { FUNCTIONS } from "./functions";
import type { Schema } from "./schema";
import { isHome, quote, statementAt, tablePath, tablesIn } from "./sql_text";

const KEYWORDS = (
  "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN INNER LEFT RIGHT FULL OUTER CROSS ON USING AS DISTINCT ALL TOP UNION EXCEPT INTERSECT " +
  "AND OR NOT IN IS NULL LIKE BETWEEN EXISTS CASE WHEN THEN ELSE END ASC DESC NULLS FIRST LAST WITH OVER PARTITION VALUES INSERT INTO UPDATE SET " +
  "DELETE MERGE CREATE TABLE INDEX DROP ALTER EXPLAIN TRUE FALSE DATE TIMESTAMP"
).split(" ");

const KEYWORD_SET = new Set(KEYWORDS);

export function completionSource(schema: Schema): (context: CompletionContext) => Promise<CompletionResult | null> {
  return async (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const word = /[\p{L}_#][\p{L}\p{N}_$#]*$|"[^"]*$/u.exec(before)?.[0] ?? "";
    const path = /((?:"[^"]*"|[\p{L}\p{N}_$#]+)\s*\.\s*)+$/u.exec(before.slice(0, before.length - word.length))?.[0];
    if (!word && !path && !context.explicit) return null;
    const text = context.state.doc.toString();
    const statement = statementAt(text, context.pos)?.text ?? "";
    const from = context.pos - word.length;
    const result = (options: Completion[]) => ({ from, options, validFor: /^"?[\p{L}\p{N}_$# ]*$/u });
    if (path) {
      const owner = path.replace(/\s*\.\s*$/, "").replaceAll(/"|\s+(?=\.)|(?<=\.)\s+/g, "");
      return result(await members(schema, owner, statement));
    }
    const head = text.slice(0, from);
    const tables = schema.all().map((table) => ({
      label: tablePath(table),
      apply: isHome(table.schema) ? plain(table.name) : `${plain(table.schema)}.${plain(table.name)}`,
      type: "class",
      detail: table.format,
      boost: 1,
    }));
    if (/\b(from|join|into|update|table)\s+$/i.test(head) || /\bfrom\s+[^()]*,\s*$/i.test(head)) return result(tables);
    return result([
      ...(await columnsOf(schema, statement)),
      ...Object.entries(FUNCTIONS).map(([name, parameters]) => ({
        label: name,
        type: "function",
        detail: `(${parameters})`,
        apply: `${name}(`,
        boost: -1,
      })),
      ...KEYWORDS.map((label) => ({ label, type: "keyword", boost: KEYWORD_BOOST })),
      ...tables,
    ]);
  };
}

/** After a dot: the tables of a schema, or the columns of a table or of what an alias stands for. */
async function members(schema: Schema, owner: string, statement: string): Promise<Completion[]> {
  const name = owner.toLowerCase();
  const inSchema = schema.all().filter((table) => table.schema.toLowerCase() === name);
  const found = tablesIn(statement).find((table) => table.alias?.toLowerCase() === name || table.path.toLowerCase().split(".").at(-1) === name);
  const table = schema.find(owner) ?? (found && schema.find(found.path));
  const columns = table ? await columnOptions(schema, table) : [];
  return [...columns, ...inSchema.map((other) => ({ label: other.name, apply: plain(other.name), type: "class", detail: other.format }))];
}

async function columnsOf(schema: Schema, statement: string): Promise<Completion[]> {
  const tables = tablesIn(statement).flatMap(({ path }) => schema.find(path) ?? []);
  const seen = new Set<string>();
  const options = (await Promise.all([...new Set(tables)].slice(0, MOST_TABLES).map((table) => columnOptions(schema, table)))).flat();
  return options.filter(({ label }) => !seen.has(label) && seen.add(label));
}

async function columnOptions(schema: Schema, table: Parameters<Schema["detail"]>[0]): Promise<Completion[]> {
  const columns: Column[] = await schema.detail(table).then((detail) => detail.columns, () => []);
  return columns.map((column) => ({ label: column.name, apply: plain(column.name), type: "property", detail: column.type, boost: 2 }));
}

/** A name as it must stand: in quotes only where it needs them. */
function plain(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KEYWORD_SET.has(name.toUpperCase()) ? name : quote(name);
}

const KEYWORD_BOOST = 0;
const MOST_TABLES = 12;
