/** The answers of a run: a tab each. */

import type { Answer } from "./api";
import { ChartView } from "./chart";
import { copyButton } from "./copy_dialog";
import { downloadMenu } from "./download";
import { element, replace } from "./element";
import { fixedRows, Grid } from "./grid";
import { plans, planView, properties, propertiesView } from "./plan";
import { isQuery, reads, statements } from "./sql_text";
import { Tabs, type Tab } from "./tabs";
import { counted, durationText } from "./value";

/** `sql` is the text that was run. Without one statement for each answer it is not known which rows to download again. */
export function answersView(sql: string, answers: Answer[], copy: (sql: string) => void): HTMLElement {
  const parts = statements(sql);
  const views = answers.map((answer, index) => answerView(answer, parts.length === answers.length ? parts[index]!.text : null, index, copy));
  const whole = element("div", { class: "answers" });
  if (views.length === 0) {
    replace(whole, element("p", { class: "nothing" }, "There was no statement to run."));
  } else if (views.length === 1) {
    replace(whole, views[0]!);
  } else {
    const tabs = new Tabs(
      "Answers",
      views.map((panel, index) => ({
        id: String(index),
        label: `${index + 1}: ${title(parts.length === answers.length ? parts[index]!.text : "")} ${summary(answers[index]!)}`.replace(/ +/g, " "),
        title: parts.length === answers.length ? parts[index]!.text.slice(0, 600) : undefined!,
        panel,
      })),
    );
    tabs.list.classList.add("answer-tabs");
    replace(whole, tabs.list, ...views);
    // The last one that has rows is what most scripts are for.
    const last = answers.findLastIndex((answer) => answer.columns.length > 0);
    tabs.select(String(last < 0 ? answers.length - 1 : last));
  }
  return whole;
}

function answerView(answer: Answer, statement: string | null, index: number, copy: (sql: string) => void): HTMLElement {
  const explained = plans(answer).length > 0 || properties(answer, statement ?? "").length > 0;
  const facts = [explained ? "" : rowsText(answer), durationText(answer.ms)].filter(Boolean).join(" · ");
  if (answer.columns.length === 0) {
    return element("div", { class: "panel answer" }, element("div", { class: "answer-bar" }, element("p", { class: "answer-facts" }, facts)));
  }
  const grid = new Grid(fixedRows(answer.columns, answer.rows), `Answer ${index + 1}`);
  const gridPanel = element("div", { class: "panel grid-panel" }, grid.element);
  const views: Tab[] = [];
  const pairs = properties(answer, statement ?? "");
  if (plans(answer).length > 0) views.push({ id: "plan", label: "Plan", panel: element("div", { class: "panel plan-panel" }, planView(answer)) });
  else if (pairs.length > 0) views.push({ id: "plan", label: "Plan", panel: element("div", { class: "panel plan-panel" }, propertiesView(pairs)) });
  views.push({ id: "grid", label: "Grid", panel: gridPanel });
  if (!explained) {
    const chartPanel = element("div", { class: "panel chart-panel" });
    views.push({ id: "chart", label: "Chart", panel: chartPanel, shown: () => chartPanel.firstChild ?? chartPanel.append(new ChartView(answer).element) });
  }
  const tabs = new Tabs(`Views of answer ${index + 1}`, views);
  tabs.list.classList.add("view-tabs");
  tabs.select(views[0]!.id);
  return element(
    "div",
    { class: "panel answer" },
    element(
      "div",
      { class: "answer-bar" },
      tabs.list,
      element("p", { class: "answer-facts", title: answer.truncated ? "There are more rows. A download has all of them." : null }, facts),
      !explained && statement && reads(statement) && element("div", { class: "answer-actions" }, isQuery(statement) && copyButton(() => copy(statement)), downloadMenu(statement, "rows")),
    ),
    ...views.map(({ panel }) => panel),
  );
}

function rowsText(answer: Answer): string {
  if (answer.columns.length === 0) return answer.changed === null ? "Done" : `${counted(answer.changed, "row")} changed`;
  return answer.truncated ? `first ${counted(answer.rows.length, "row")}` : counted(answer.rows.length, "row");
}

function title(statement: string): string {
  const text = statement.replace(/\/\*[^]*?\*\/|--.*/g, "").trim().replace(/\s+/g, " ");
  return text.length > TITLE_CHARACTERS ? `${text.slice(0, TITLE_CHARACTERS - 1)}…` : text;
}

function summary(answer: Answer): string {
  if (answer.columns.length === 0) return "";
  return `(${answer.rows.length}${answer.truncated ? "+" : ""})`;
}

const TITLE_CHARACTERS = 24;
