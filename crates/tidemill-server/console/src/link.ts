/** The part of the address after `#`: a statement for the editor, a table, the copies, or the reports of load tests. */

export type Place =
  | { kind: "sql"; sql: string | null }
  | { kind: "table"; path: string; tab: string | null }
  | { kind: "copies" }
  | { kind: "reports"; name: string | null };

export const COPIES_LINK = "#view=copies";
export const REPORTS_LINK = "#view=reports";

export function sqlLink(sql: string): string {
  return `#sql=${encodeURIComponent(sql)}`;
}

export function tableLink(path: string, tab?: string): string {
  return `#table=${encodeURIComponent(path)}${tab ? `&tab=${tab}` : ""}`;
}

export function reportLink(name: string): string {
  return `#report=${encodeURIComponent(name)}`;
}

export function place(hash: string): Place {
  const parts = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) parts.set(part.slice(0, at), decode(part.slice(at + 1)));
  }
  const path = parts.get("table");
  if (path) return { kind: "table", path, tab: parts.get("tab") ?? null };
  const report = parts.get("report");
  if (report) return { kind: "reports", name: report };
  const view = parts.get("view");
  if (view === "copies") return { kind: "copies" };
  if (view === "reports") return { kind: "reports", name: null };
  return { kind: "sql", sql: parts.get("sql") ?? null };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
