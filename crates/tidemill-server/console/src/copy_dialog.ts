/** What to copy, where to, and how it is verified. */

import { ApiError, type Catalog, type CatalogSchema, type Copy, type CopyOrder, type CopySource } from "./api";
import { openForm } from "./dialog";
import { button, element, icon, replace } from "./element";
import { errorBox } from "./error_box";
import { listed, type Listed } from "./tables_list";

/** The schemas that copies can be made into, by this user. */
export function targets(catalog: Catalog | null): CatalogSchema[] {
  if (!catalog?.formats) return [];
  const intoFolders = catalog.formats.length > 0;
  return catalog.schemas.filter(({ target }) => target === "database" || (target === "folder" && intoFolders));
}

/** A button for copying what is shown. The page hides it where no copies can be made. */
export function copyButton(chosen: () => void): HTMLButtonElement {
  return button("Copy…", { class: "copy-action", title: "Copy these rows into another table", onclick: chosen }, icon("M6 6h7.5v7.5H6zM10 3.5V2.5H2.5V10h1"), element("span", {}, "Copy…"));
}

/** The name that a table has as the source of a copy. */
export function sourceName({ schema, name }: { schema: string; name: string }): string {
  return `${schema}.${name}`;
}

/** Without a source the reader chooses a table. The dialog stays while `start` fails, with what the server says. */
export function openCopyDialog(catalog: Catalog, source: CopySource | null, start: (order: CopyOrder) => Promise<Copy>, started: (target: string) => void): void {
  const tables = listed(catalog);
  const schemas = targets(catalog);
  const sql = source && "sql" in source ? source.sql : null;
  const from = element("select", { required: true, onchange: () => tableChosen() });
  for (const { name } of catalog.schemas) {
    const own = tables.filter(({ schema }) => schema === name);
    if (own.length > 0) from.append(element("optgroup", { label: name }, ...own.map((table) => element("option", { value: sourceName(table) }, sourceName(table)))));
  }
  if (source && "table" in source) {
    // A link may have the name in other letters than the list.
    const wanted = source.table.toLowerCase();
    const option = [...from.options].find(({ value }) => value.toLowerCase() === wanted) ?? element("option", { value: source.table }, source.table);
    if (!from.contains(option)) from.append(option);
    from.value = option.value;
  }
  const chosenTable = (): Listed | undefined => (sql === null ? tables.find((table) => sourceName(table) === from.value) : undefined);
  // Most copies go elsewhere.
  const elsewhere = schemas.find(({ name }) => name !== chosenTable()?.schema) ?? schemas[0];
  const into = element("select", { onchange: () => targetChosen() }, ...schemas.map(({ name, target }) => element("option", { value: name, selected: name === elsewhere?.name }, `${name} (${target})`)));
  const name = element("input", { type: "text", required: true, autocomplete: "off", spellcheck: "false", autocapitalize: "none", oninput: () => (named = true) });
  const format = element("select", {}, ...(catalog.formats ?? []).map((one) => element("option", { value: one, selected: one === "parquet" }, FORMATS[one] ?? one)));
  const formatField = field("Format", format);
  const verify = element("select", {}, element("option", { value: "full" }, "Compare all values"), element("option", { value: "count" }, "Count the rows"));
  const overwrite = element("input", { type: "checkbox" });
  const lossy = element("input", { type: "checkbox" });
  const problem = element("div", { class: "form-problem" });
  let named = false;
  let starting = false;

  const tableChosen = () => {
    if (!named) name.value = chosenTable()?.name ?? "";
  };
  const targetChosen = () => {
    formatField.hidden = schemas.find((schema) => schema.name === into.value)?.target !== "folder";
    formatChosen();
  };
  const formatChosen = () => {
    verify.disabled = !formatField.hidden && WITHOUT_TYPES.has(format.value);
    if (verify.disabled) verify.value = "count";
  };
  format.addEventListener("change", formatChosen);
  const submit = async () => {
    if (starting) return;
    starting = true;
    replace(problem);
    const target = { schema: into.value, name: name.value.trim(), ...(formatField.hidden ? {} : { format: format.value }) };
    try {
      const copy = await start({ source: sql === null ? { table: from.value } : { sql }, target, overwrite: overwrite.checked, lossy: lossy.checked, verify: verify.value === "count" ? "count" : "full" });
      dialog.close();
      started(copy.target);
    } catch (error) {
      replace(problem, errorBox(error));
      problem.scrollIntoView({ block: "nearest" });
      if (error instanceof ApiError && error.sqlstate === DUPLICATE_TABLE) overwrite.focus();
    } finally {
      starting = false;
    }
  };

  const dialog = openForm(
    "Copy",
    "Copy",
    () => void submit(),
    sql === null ? field("Table", from) : element("div", { class: "field" }, element("span", {}, "All rows of"), element("pre", { class: "value-text", tabindex: 0, "aria-label": "Statement" }, sql)),
    field("Into the schema", into),
    field("As the table", name),
    formatField,
    field("Verification", verify),
    element("label", {}, overwrite, "Replace a table of this name"),
    element("label", {}, lossy, "Copy values that lose something by their new type"),
    problem,
  );
  tableChosen();
  targetChosen();
  (source === null ? from : name).focus();
  if (source !== null) name.select();
}

function field(label: string, control: HTMLElement): HTMLElement {
  // A label around a select would have its options in the name.
  control.id = `field-${label.toLowerCase().replaceAll(" ", "-")}`;
  return element("div", { class: "field" }, element("label", { for: control.id }, label), control);
}

const FORMATS: Record<string, string> = { dbf: "dBase or FoxPro (dbf)", adt: "Advantage (adt)", parquet: "Parquet", csv: "CSV", jsonl: "JSON lines", arrow: "Arrow", riegeli: "Riegeli" };

/** Their values cannot be compared with the source's. */
const WITHOUT_TYPES = new Set(["csv", "json", "jsonl", "xlsx"]);

/** The SQLSTATE of a table that is there already. */
const DUPLICATE_TABLE = "42P07";
