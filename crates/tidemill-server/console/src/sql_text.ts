/** Names, literals and statements as they stand in SQL text. */

export interface Statement {
  /** Offsets in UTF-16 units, without blanks and the semicolon around. */
  from: number;
  to: number;
  text: string;
}

/** A table as the server names it. */
export interface TableName {
  schema: string;
  name: string;
}

let home = "main";

/** Says which schema's tables are named alone. */
export function setHome(schema: string): void {
  home = schema;
}

export function isHome(schema: string): boolean {
  return schema === home;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The table's name in the API: with its schema, unless that is the home schema. */
export function tablePath({ schema, name }: TableName): string {
  return isHome(schema) ? name : `${schema}.${name}`;
}

/** The table in a statement, in quotes. */
export function tableSql({ schema, name }: TableName): string {
  return isHome(schema) ? quote(name) : `${quote(schema)}.${quote(name)}`;
}

/** The statements of a text. What is only blanks and comments is none. */
export function statements(text: string): Statement[] {
  const found: Statement[] = [];
  let from = 0;
  let blank = true;
  const end = (to: number) => {
    if (!blank) {
      const part = text.slice(from, to);
      const start = from + part.length - part.trimStart().length;
      const trimmed = part.trim();
      found.push({ from: start, to: start + trimmed.length, text: trimmed });
    }
    blank = true;
  };
  let at = 0;
  while (at < text.length) {
    const skipped = comment(text, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const character = text[at]!;
    if (character === ";") {
      end(at);
      from = at + 1;
    } else if (!/\s/.test(character)) {
      blank = false;
    }
    at = character === "'" || character === '"' ? quoted(text, at) : at + 1;
  }
  end(text.length);
  return found;
}

/** The statement at a place, or the one before it. */
export function statementAt(text: string, place: number): Statement | undefined {
  const all = statements(text);
  return all.find(({ to }) => place <= to) ?? all.at(-1);
}

/** Whether a statement only reads, so that it can be run again for a download. */
export function reads(statement: string): boolean {
  return /^\(*\s*(select|with|values|explain|show)\b/i.test(withoutComments(statement).trim());
}

/** Whether a statement's rows can be copied: it stands in place of a table then. */
export function isQuery(statement: string): boolean {
  return /^\(*\s*(select|with|values)\b/i.test(withoutComments(statement).trim());
}

/** The names after FROM, JOIN, UPDATE and INTO, with their aliases. */
export function tablesIn(statement: string): { path: string; alias: string | null }[] {
  const name = String.raw`(?:"(?:[^"]|"")*"|\[[^\]]*\]|[\p{L}_#][\p{L}\p{N}_$#]*)`;
  const found: { path: string; alias: string | null }[] = [];
  const table = new RegExp(
    String.raw`(?:\b(?:from|join|update|into)|,)\s+(${name}(?:\s*\.\s*${name})*)(?:\s+(?:as\s+)?(${name}))?`,
    "giu",
  );
  for (const match of withoutComments(statement).matchAll(table)) {
    const path = [...match[1]!.matchAll(new RegExp(name, "gu"))].map(([part]) => bare(part)).join(".");
    const alias = match[2] && !CLAUSES.test(match[2]) ? bare(match[2]) : null;
    found.push({ path, alias });
  }
  return found;
}

/** The offset in UTF-16 units of a place that is counted in characters from 1. */
export function offsetOf(text: string, position: number): number {
  let offset = 0;
  for (let character = 1; character < position && offset < text.length; character++) {
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  }
  return offset;
}

const CLAUSES =
  /^(where|group|order|having|limit|offset|on|using|inner|left|right|full|cross|join|natural|union|except|intersect|set|values|select|window|fetch|as)$/i;

function bare(name: string): string {
  if (name.startsWith('"')) return name.slice(1, -1).replaceAll('""', '"');
  return name.startsWith("[") ? name.slice(1, -1) : name;
}

function withoutComments(text: string): string {
  let out = "";
  let at = 0;
  while (at < text.length) {
    const skipped = comment(text, at);
    if (skipped > at) {
      out += " ";
      at = skipped;
      continue;
    }
    const character = text[at]!;
    const next = character === "'" || character === '"' ? quoted(text, at) : at + 1;
    out += text.slice(at, next);
    at = next;
  }
  return out;
}

/** The end of the comment that begins at a place, or the place itself. */
function comment(text: string, at: number): number {
  const two = text.slice(at, at + 2);
  if (two === "--" || two === "//") {
    const end = text.indexOf("\n", at);
    return end < 0 ? text.length : end;
  }
  if (two !== "/*") return at;
  const end = text.indexOf("*/", at + 2);
  return end < 0 ? text.length : end + 2;
}

function quoted(text: string, at: number): number {
  const end = text.indexOf(text[at]!, at + 1);
  return end < 0 ? text.length : end + 1;
}
