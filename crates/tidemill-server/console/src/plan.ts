/** The plan of a statement as a tree. */

import type { Answer, Value } from "./api";
import { button, element } from "./element";
import { valueText } from "./value";

export interface PlanNode {
  name: string;
  fields: { key: string; value: string }[];
  children: PlanNode[];
}

/** The plans in an answer of EXPLAIN: what runs first, then the others. */
export function plans(answer: Answer): { type: string; text: string }[] {
  const [type, plan] = ["plan_type", "plan"].map((name) => answer.columns.findIndex((column) => column.name.toLowerCase() === name));
  if (type === undefined || plan === undefined || type < 0 || plan < 0) return [];
  return answer.rows
    .map((row) => ({ type: valueText(row[type]), text: valueText(row[plan]) }))
    .sort((a, b) => Number(b.type === "physical_plan") - Number(a.type === "physical_plan"));
}

/** The facts in an answer of EXPLAIN that is a list of properties. */
export function properties(answer: Answer, statement: string): [string, Value][] {
  if (!/^\s*explain\b/i.test(statement) || answer.columns.length !== 2 || plans(answer).length > 0) return [];
  return answer.rows.map((row) => [valueText(row[0]), row[1] ?? null]);
}

/** Reads a plan: a line each, deeper lines below. */
export function planTree(text: string): PlanNode[] {
  const roots: PlanNode[] = [];
  const open: { depth: number; node: PlanNode }[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const depth = line.length - line.trimStart().length;
    const node = planNode(line.trim());
    while (open.length > 0 && open.at(-1)!.depth >= depth) open.pop();
    (open.at(-1)?.node.children ?? roots).push(node);
    open.push({ depth, node });
  }
  return roots;
}

export function planView(answer: Answer): HTMLElement {
  const all = plans(answer);
  const sections = all.map(({ type, text }, index) =>
    element(
      "details",
      { class: "plan", open: index === 0 },
      element("summary", {}, type.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase())),
      element("div", { class: "plan-tree" }, ...planTree(text).map((node) => drawn(node))),
    ),
  );
  const set = (open: boolean) => {
    for (const details of sections[0]?.querySelectorAll<HTMLDetailsElement>("details") ?? []) details.open = open;
  };
  return element(
    "div",
    { class: "plan-view" },
    element("div", { class: "plan-bar" }, button("Expand all", { class: "quiet", onclick: () => set(true) }), button("Collapse all", { class: "quiet", onclick: () => set(false) })),
    ...sections,
  );
}

export function propertiesView(facts: [string, Value][]): HTMLElement {
  return element(
    "div",
    { class: "plan-view" },
    element("dl", { class: "properties" }, ...facts.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, valueText(value))])),
  );
}

/** What tells which part of the work the store itself does. */
const PUSHED = /^(query|sql|filters?|full_filters|partial_filters|predicate|projection|columns|limit|fetch|offset|index)$/;

/** Texts of a query hold commas and end with the line. */
const WHOLE = /^(.*?)\b(query|sql)=(.*?)(, connections=\d+)?$/s;

function drawn(node: PlanNode): HTMLElement {
  const line = [
    element("span", { class: "plan-name" }, node.name),
    ...node.fields.flatMap(({ key, value }) => [
      " ",
      element(
        "span",
        { class: PUSHED.test(key) ? "plan-field pushed" : "plan-field" },
        key && element("span", { class: "plan-key" }, key),
        element("span", { class: "plan-value" }, value),
      ),
    ]),
  ];
  if (node.children.length === 0) return element("div", { class: "plan-node leaf" }, ...line);
  return element("details", { class: "plan-node", open: true }, element("summary", {}, ...line), ...node.children.map((child) => drawn(child)));
}

function planNode(line: string): PlanNode {
  const colon = line.search(/:\s|:$/);
  const name = colon < 0 ? line : line.slice(0, colon);
  return { name, fields: colon < 0 ? [] : fields(line.slice(colon + 1).trim()), children: [] };
}

function fields(text: string): PlanNode["fields"] {
  const whole = WHOLE.exec(text);
  const before = (whole ? whole[1]! : text).replace(/,\s*$/, "");
  const found = parts(before).map((part) => {
    // `XbaseScan: file=…` names the store first.
    const [, key = "", value = part] = /^((?:\w+: )?[\w-]+)=(.*)$/s.exec(part) ?? [];
    const named = /^(\w+): (.*)$/.exec(key);
    return named ? [{ key: "", value: named[1]! }, { key: named[2]!, value }] : [{ key, value }];
  }).flat();
  if (whole) {
    found.push({ key: whole[2]!, value: whole[3]! });
    if (whole[4]) found.push({ key: "connections", value: whole[4].slice(", connections=".length) });
  }
  return found;
}

/** Splits at the commas that no bracket and no quotes hold. */
function parts(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let quote = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote) {
      if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) depth -= 1;
    else if (character === "," && depth === 0) {
      // The next part begins with a name: `filter=a > 1, b < 2` is one.
      if (/^\s+(?:\w+: )?[\w-]+=/.test(text.slice(at + 1))) {
        found.push(text.slice(from, at).trim());
        from = at + 1;
      }
    }
  }
  found.push(text.slice(from).trim());
  return found.filter((part) => part !== "");
}
