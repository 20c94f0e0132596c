/** The SQL editor. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completionSource } from "./completion";
import { element } from "./element";
import { FUNCTIONS } from "./functions";
import type { Schema } from "./schema";
import { statementAt, type Statement } from "./sql_text";

export class Editor {
  readonly element = element("div", { class: "editor" });
  private readonly view: EditorView;

  constructor(text: string, schema: Schema, actions: { run: () => void; cancel: () => boolean; changed: (text: string) => void }) {
    // In a shadow root CodeMirror adopts style sheets. In the document it would add style elements, which the policy of the page forbids.
    const root = this.element.attachShadow({ mode: "open" });
    const parent = element("div");
    parent.style.height = "100%";
    root.append(parent);
    this.view = new EditorView({
      root,
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(
            keymap.of([
              { key: "Mod-Enter", run: () => (actions.run(), true) },
              { key: "Escape", run: (view) => completionStatus(view.state) === null && actions.cancel() },
            ]),
          ),
          lineNumbers(),
          highlightSpecialChars(),
          highlightActiveLine(),
          drawSelection(),
          history(),
          bracketMatching(),
          closeBrackets(),
          search({ top: true }),
          highlightSelectionMatches(),
          indentUnit.of("  "),
          EditorState.allowMultipleSelections.of(true),
          EditorView.lineWrapping,
          placeholder("SELECT …"),
          sql({ dialect: DIALECT }),
          autocompletion({ override: [completionSource(schema)], icons: false }),
          syntaxHighlighting(HIGHLIGHT),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          // Tab goes to the next control, as everywhere on the page.
          EditorView.contentAttributes.of({ "aria-label": "SQL", spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
          EditorView.updateListener.of((update) => update.docChanged && !update.transactions.some((one) => one.annotation(GIVEN)) && actions.changed(update.state.doc.toString())),
          EditorView.domEventHandlers({ beforeinput: replaceSelection }),
          THEME,
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text === this.text) return;
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: text.length },
      annotations: GIVEN.of(true),
      scrollIntoView: true,
    });
  }

  /** The selection, if it is more than blanks. */
  get selection(): Statement | null {
    const { from, to } = this.view.state.selection.main;
    const text = this.view.state.sliceDoc(from, to);
    return text.trim() ? { from, to, text } : null;
  }

  get statement(): Statement | undefined {
    return statementAt(this.text, this.view.state.selection.main.head);
  }

  /** Underlines the word at an offset, or takes the underline away. */
  mark(error: { offset: number; message: string } | null): void {
    const { state } = this.view;
    if (!error) {
      this.view.dispatch(setDiagnostics(state, []));
      return;
    }
    const length = state.doc.length;
    let from = Math.min(error.offset, length);
    const word = /^(?:"[^"]*"?|[\p{L}\p{N}_$#.]+|\S)/u.exec(state.sliceDoc(from, Math.min(length, from + 200)))?.[0].length ?? 0;
    const to = Math.min(length, from + Math.max(1, word));
    if (from === to && from > 0) from -= 1;
    this.view.dispatch(setDiagnostics(state, [{ from, to, severity: "error", message: error.message }]));
  }

  goTo(offset: number): void {
    this.view.dispatch({ selection: { anchor: Math.min(offset, this.view.state.doc.length) }, scrollIntoView: true });
    this.focus();
  }

  /** "line 2, column 5" for an offset. */
  placeText(offset: number): string {
    const line = this.view.state.doc.lineAt(Math.min(offset, this.view.state.doc.length));
    return `line ${line.number}, column ${offset - line.from + 1}`;
  }

  focus(): void {
    this.view.focus();
  }

  /** Measures again after the page has changed the editor's size. */
  measure(): void {
    this.view.requestMeasure();
  }
}

/**
 * Types over a selection. Left to itself, Chromium keeps the style of the text that goes by a style attribute, which the policy of the
 * page forbids: the console would show an error.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { main, ranges } = view.state.selection;
  const text = event.data;
  if (event.inputType !== "insertText" || !text || event.isComposing || ranges.every((range) => range.empty)) return false;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handler) => handler(view, main.from, main.to, text, insert))) view.dispatch(insert());
  event.preventDefault();
  return true;
}

/** Text that the reader has not typed. */
const GIVEN = Annotation.define<boolean>();

const DIALECT = SQLDialect.define({
  keywords:
    "add all alter and any as asc begin between by call case cast collate column commit constraint create cross cube current declare default delete desc distinct do drop else end escape except execute exists explain fetch filter first following for foreign from full grant group grouping having if in index inner insert intersect into is join key last lateral left like limit merge natural next not null nulls of offset on only or order outer over partition preceding primary procedure range references replace return returning right rollback rollup row rows savepoint select set sets some start table temporary then ties to top transaction trigger truncate try unbounded union unique update using values view when where while window with",
  types:
    "array bigint binary bit blob boolean bool char character cichar curdouble date datetime decimal double float float32 float64 int integer logical long memo money nchar numeric nvarchar raw real rowversion shortint smallint sql_char sql_date sql_double sql_integer sql_numeric sql_timestamp sql_varchar string text time timestamp tinyint uuid varbinary varchar autoinc",
  builtin: Object.keys(FUNCTIONS).join(" ").toLowerCase(),
  backslashEscapes: false,
  slashComments: true,
  operatorChars: "*+-%<>!=&|^~/",
  identifierQuotes: '"',
});

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--sql-keyword)", fontWeight: "600" },
  { tag: [tags.standard(tags.name)], color: "var(--sql-function)" },
  { tag: tags.typeName, color: "var(--sql-type)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--sql-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--sql-number)" },
  { tag: tags.comment, color: "var(--sql-comment)", fontStyle: "italic" },
]);

const THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--text)", backgroundColor: "var(--page)" },
  "&.cm-focused": { outline: "none" },
  // Above the gutter, which would cover an outline.
  "&.cm-focused::after": { content: '""', position: "absolute", inset: "0", zIndex: "1000", border: "2px solid var(--focus)", pointerEvents: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 12px", minWidth: "28px" },
  ".cm-activeLine": { backgroundColor: "var(--active-line)" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  ".cm-selectionMatch, .cm-searchMatch .cm-selectionMatch": { backgroundColor: "var(--match)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--match)", outline: "1px solid var(--border-strong)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--border)" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 8px", fontFamily: "var(--sans)" },
  ".cm-panel.cm-search label": { fontSize: "12.5px" },
  ".cm-panel.cm-search [name=close]": { color: "var(--text)", fontSize: "18px", minWidth: "24px", minHeight: "24px" },
  ".cm-textfield": { fontSize: "12.5px", padding: "3px 7px", backgroundColor: "var(--page)", color: "var(--text)", border: "1px solid var(--border-strong)", borderRadius: "4px" },
  ".cm-textfield::placeholder": { color: "var(--muted)", opacity: "1" },
  ".cm-button": { fontSize: "12.5px", padding: "3px 8px", background: "var(--control)", color: "var(--text)", border: "1px solid var(--border)", borderRadius: "4px" },
  ".cm-textfield:focus-visible, .cm-button:focus-visible": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-searchMatch": { backgroundColor: "var(--match)", outline: "1px solid var(--border-strong)" },
  ".cm-searchMatch.cm-searchMatch-selected": { backgroundColor: "var(--selection)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--border-strong)", borderRadius: "4px", boxShadow: "var(--shadow)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 10px", display: "flex", gap: "16px", justifyContent: "space-between", lineHeight: "1.4" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "0" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { padding: "4px 10px", maxWidth: "480px", whiteSpace: "pre-wrap", fontSize: "12.5px" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--error)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--error)", textDecorationSkipInk: "none", textUnderlineOffset: "3px" },
});
