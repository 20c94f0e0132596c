/** The reports of load tests: their list, and one of them. */

import { reportAddress, type Report } from "./api";
import { element } from "./element";
import { REPORTS_LINK, reportLink } from "./link";
import { bytesText } from "./value";

export function reportsView(reports: Report[]): HTMLElement {
  return element(
    "section",
    { class: "list-view", "aria-label": "Load tests" },
    element("div", { class: "table-head" }, element("h1", {}, "Load tests")),
    element(
      "div",
      { class: "scroll" },
      element(
        "ul",
        { class: "reports" },
        ...reports.map(({ name, bytes, modified }) =>
          element("li", {}, element("a", { href: reportLink(name) }, name), element("span", { class: "muted" }, [timeText(modified), bytesText(bytes)].filter(Boolean).join(" · "))),
        ),
      ),
    ),
  );
}

/** A report is a page of its own. In the frame it runs no scripts and reaches nothing of this page. */
export function reportView({ name }: Report): HTMLElement {
  const address = reportAddress(name);
  return element(
    "section",
    { class: "list-view", "aria-label": `Load test ${name}` },
    element(
      "div",
      { class: "table-head" },
      element("h1", {}, name),
      element("div", { class: "actions report-links" }, element("a", { href: REPORTS_LINK }, "All load tests"), element("a", { href: address, target: "_blank", rel: "noopener" }, "Open in a new tab")),
    ),
    element("iframe", { class: "report", sandbox: "", src: address, title: `Report ${name}` }),
  );
}

/** The Swedish way to write a time is that of ISO 8601, in the reader's own zone. */
function timeText(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
}
