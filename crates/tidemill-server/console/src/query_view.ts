/** The editor with its tools, and below it the answers. */

import { ApiError, cancel, run, uuid } from "./api";
import { answersView } from "./answers";
import { openDialog } from "./dialog";
import { Editor } from "./editor";
import { button, element, icon, replace } from "./element";
import { errorBox } from "./error_box";
import { forget, history, remember } from "./history";
import { sqlLink } from "./link";
import type { Schema } from "./schema";
import { offsetOf, type Statement } from "./sql_text";
import { announce, say } from "./status";
import { store } from "./store";
import { copyText } from "./value_dialog";
import { durationText } from "./value";

export class QueryView {
  readonly element: HTMLElement;
  readonly editor: Editor;
  private readonly runButton = button("Run", { class: "primary", title: "Run all statements, or the selection (Ctrl+Enter)", onclick: () => void this.run() }, icon("M4.5 2.8v10.4L13 8z"), element("span", {}, "Run"));
  private readonly cancelButton = button("Cancel", { title: "Cancel the statement (Esc)", disabled: true, onclick: () => this.cancel() });
  private readonly elapsed = element("span", { class: "elapsed", role: "timer", "aria-label": "Elapsed time" });
  private readonly limit = element("select", { "aria-label": "Most rows to show" });
  private readonly result = element("div", { class: "result", "aria-live": "off" });
  private running: { statement: string; controller: AbortController; cancelled: boolean } | null = null;
  private readonly split: HTMLElement;

  constructor(
    schema: Schema,
    private readonly changedTables: () => void,
    private readonly copy: (sql: string) => void,
  ) {
    this.editor = new Editor(store.read("draft") ?? "", schema, {
      run: () => void this.run(),
      cancel: () => this.cancel(),
      changed: (text) => this.keepDraft(text),
    });
    for (const rows of LIMITS) this.limit.append(element("option", { value: rows, selected: rows === 1000 }, `${rows.toLocaleString("en-US").replaceAll(",", "\u202f")} rows`));
    this.split = this.splitter();
    this.element = element(
      "section",
      { class: "query-view", "aria-label": "SQL" },
      element("h1", { class: "off-screen" }, "SQL"),
      element(
        "div",
        { class: "toolbar", role: "toolbar", "aria-label": "Statement" },
        this.runButton,
        this.cancelButton,
        button("Explain", { title: "Show the plan of the statement at the cursor", onclick: () => void this.explain() }),
        button("History", { title: "Statements that were run before", onclick: () => this.showHistory() }),
        button("Link", { title: "Copy a link that carries the statement", onclick: () => void this.copyLink() }),
        this.limit,
        this.elapsed,
      ),
      this.editor.element,
      this.split,
      this.result,
    );
    this.hint();
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || this.element.hidden || document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") this.cancel();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.run();
    });
  }

  async run(): Promise<void> {
    const selection = this.editor.selection;
    const text = this.editor.text;
    await this.post(selection ?? { from: 0, to: text.length, text }, 0);
  }

  async explain(): Promise<void> {
    const statement = this.editor.selection ?? this.editor.statement;
    if (!statement) return announce("There is no statement to explain");
    const already = /^\s*explain\b/i.test(statement.text);
    const prefix = already ? "" : "EXPLAIN ";
    await this.post({ ...statement, text: prefix + statement.text }, prefix.length);
  }

  cancel(): boolean {
    const { running } = this;
    if (!running) return false;
    this.cancelButton.disabled = true;
    running.cancelled = true;
    const stopWaiting = () => this.running === running && running.controller.abort();
    // The answer says that it was cancelled. If none comes, the page closes the connection.
    void cancel(running.statement).then(() => window.setTimeout(stopWaiting, ANSWER_MS));
    window.setTimeout(stopWaiting, CANCEL_PATIENCE_MS);
    return true;
  }

  /** `added` counts the characters that stand in front of the text of the editor. */
  private async post(statement: Statement, added: number): Promise<void> {
    if (this.running) return announce("A statement is running: cancel it first");
    if (!statement.text.trim()) return announce("There is no statement to run");
    const running = { statement: uuid(), controller: new AbortController(), cancelled: false };
    this.running = running;
    this.editor.mark(null);
    this.runButton.disabled = true;
    this.cancelButton.disabled = false;
    this.element.classList.add("running");
    const start = performance.now();
    const tick = () => replace(this.elapsed, durationText(Math.max(100, Math.floor((performance.now() - start) / 100) * 100)));
    const timer = window.setInterval(tick, 100);
    if (added === 0) remember(statement.text, Date.now());
    try {
      const answers = await run(statement.text, Number(this.limit.value), running.controller.signal, { statement: running.statement });
      replace(this.result, answersView(statement.text, answers, this.copy));
      replace(this.elapsed);
      say(answers.length === 1 ? "Done" : `Done: ${answers.length} answers`);
      if (answers.some(({ columns }) => columns.length === 0)) this.changedTables();
    } catch (error) {
      replace(this.elapsed, `after ${durationText(performance.now() - start)}`);
      this.showError(error, statement, added, running.cancelled);
    } finally {
      window.clearInterval(timer);
      this.running = null;
      this.runButton.disabled = false;
      this.cancelButton.disabled = true;
      this.element.classList.remove("running");
    }
  }

  private showError(error: unknown, statement: Statement, added: number, cancelled: boolean): void {
    const known = error instanceof ApiError ? error : new ApiError(String(error), 0);
    if (known.cancelled || (cancelled && known.sqlstate === QUERY_CANCELED)) {
      replace(this.result, element("p", { class: "nothing", role: "status" }, "Cancelled."));
      return;
    }
    let place: HTMLElement | null = null;
    if (known.position !== null) {
      const offset = statement.from + Math.max(0, offsetOf(statement.text, known.position) - added);
      const message = known.hint ? `${known.message}\n${known.hint}` : known.message;
      this.editor.mark({ offset, message });
      place = button(`Go to ${this.editor.placeText(offset)}`, { class: "quiet", onclick: () => this.editor.goTo(offset) });
    }
    replace(this.result, errorBox(known, place));
  }

  private hint(): void {
    replace(
      this.result,
      element(
        "div",
        { class: "nothing" },
        element("p", {}, "Write a statement and run it with ", element("kbd", {}, "Ctrl"), "+", element("kbd", {}, "Enter"), ". If text is selected, only that runs."),
        element("p", {}, element("kbd", {}, "Ctrl"), "+", element("kbd", {}, "Space"), " completes names. ", element("kbd", {}, "Esc"), " cancels."),
      ),
    );
  }

  private showHistory(): void {
    const runs = history();
    const list = element("ul", { class: "history" });
    for (const { sql, at } of runs) {
      const use = () => {
        this.editor.text = sql;
        dialog.close();
        this.editor.focus();
      };
      // The Swedish way to write a time is that of ISO 8601, in the reader's own zone.
      const time = new Date(at).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
      list.append(element("li", {}, element("button", { type: "button", onclick: use }, element("code", {}, sql.slice(0, 400)), element("span", { class: "muted" }, time))));
    }
    const clear = button("Clear", { onclick: () => (forget(), dialog.close()) });
    const dialog = openDialog("History", runs.length > 0 ? list : element("p", { class: "muted" }, "Nothing was run in this browser yet."), runs.length > 0 ? clear : null);
    list.querySelector("button")?.focus();
  }

  private async copyLink(): Promise<void> {
    const link = sqlLink(this.editor.text);
    window.history.replaceState(null, "", link);
    const url = window.location.href;
    if (await copyText(url)) announce("The link is copied. It fills the editor and runs nothing.");
    else openDialog("Link", element("pre", { class: "value-text", tabindex: 0 }, url));
  }

  private keepDraft(text: string): void {
    // The text is no longer that of the link.
    if (window.location.hash.startsWith("#sql=")) window.history.replaceState(null, "", "#");
    if (text.length <= MOST_DRAFT_CHARACTERS) store.write("draft", text || null);
  }

  /** The line between editor and answers: it is dragged, or moved by the arrow keys. */
  private splitter(): HTMLElement {
    const set = (percent: number) => {
      const rounded = Math.round(Math.min(80, Math.max(12, percent)));
      this.editor.element.style.height = `${rounded}%`;
      node.setAttribute("aria-valuenow", String(rounded));
      this.editor.measure();
      store.write("split", String(rounded));
    };
    const node: HTMLElement = element("div", {
      class: "splitter",
      role: "separator",
      tabindex: 0,
      "aria-label": "Height of the editor",
      "aria-orientation": "horizontal",
      "aria-valuemin": 12,
      "aria-valuemax": 80,
      onkeydown: (event: KeyboardEvent) => {
        const step = { ArrowUp: -4, ArrowDown: 4 }[event.key];
        if (!step) return;
        event.preventDefault();
        set(Number(node.getAttribute("aria-valuenow")) + step);
      },
      onpointerdown: (event: PointerEvent) => {
        event.preventDefault();
        node.setPointerCapture(event.pointerId);
        const box = this.element.getBoundingClientRect();
        const top = this.editor.element.getBoundingClientRect().top;
        const move = (moved: PointerEvent) => set((100 * (moved.clientY - top)) / box.height);
        node.addEventListener("pointermove", move);
        const end = () => node.removeEventListener("pointermove", move);
        node.addEventListener("pointerup", end, { once: true });
        node.addEventListener("pointercancel", end, { once: true });
      },
    });
    set(Number(store.read("split") ?? 34) || 34);
    return node;
  }
}

/** The SQLSTATE of a statement that was cancelled, and of one that took too long. */
const QUERY_CANCELED = "57014";
const LIMITS = [100, 1000, 10_000, 100_000];
/** What a cancelled statement gets to answer. */
const ANSWER_MS = 400;
const CANCEL_PATIENCE_MS = 3000;
const MOST_DRAFT_CHARACTERS = 100_000;
