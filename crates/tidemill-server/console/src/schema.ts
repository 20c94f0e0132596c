/** The tables and their columns, for completion. Columns are fetched when they are first needed. */

import { table, type Catalog, type TableDetail } from "./api";
import { tablePath } from "./sql_text";
import { listed, type Listed } from "./tables_list";

export class Schema {
  private tables: Listed[] = [];
  private readonly details = new Map<string, Promise<TableDetail>>();

  set(catalog: Catalog): void {
    this.tables = listed(catalog);
    this.details.clear();
  }

  all(): readonly Listed[] {
    return this.tables;
  }

  /** A table by the name it has in a statement, whatever the case of its letters. */
  find(path: string): Listed | undefined {
    const wanted = path.toLowerCase();
    return this.tables.find((candidate) => tablePath(candidate).toLowerCase() === wanted);
  }

  /** What the server says about a table. A failure is not kept. */
  detail(named: Listed): Promise<TableDetail> {
    return this.detailOf(tablePath(named));
  }

  detailOf(path: string): Promise<TableDetail> {
    let detail = this.details.get(path);
    if (!detail) {
      detail = table(path);
      detail.catch(() => this.details.delete(path));
      this.details.set(path, detail);
    }
    return detail;
  }

  /** Asks anew next time: the rows may have changed. */
  forget(path: string): void {
    this.details.delete(path);
  }
}
