/** An answer as a chart. */

import type { Answer, Column, Value } from "./api";
import { numberAxis, placeOf, short, timeAxis, type Axis } from "./axis";
import { choose, hasScale, KINDS, numberColumns, type Choice, type Kind } from "./chart_choice";
import { element, replace, svg } from "./element";
import { asNumber, count, isNumeric, valueText } from "./value";

interface Point {
  x: Value;
  y: number;
  /** In pixels. */
  left: number;
  top: number;
}

export class ChartView {
  readonly element = element("div", { class: "chart-view" });
  private readonly stage = element("div", { class: "chart-stage" });
  private readonly note = element("span", { class: "muted" });
  private readonly tip = element("div", { class: "chart-tip", "aria-live": "polite" });
  private choice: Choice | null;

  constructor(private readonly answer: Answer) {
    this.choice = choose(answer.columns);
    if (!this.choice) {
      replace(this.element, element("p", { class: "nothing" }, "A chart needs a column of numbers."));
      return;
    }
    const { columns } = answer;
    const all = columns.map((_, index) => index);
    replace(
      this.element,
      element(
        "div",
        { class: "chart-bar" },
        this.picker("Kind", KINDS, (kind) => kind[0]!.toUpperCase() + kind.slice(1), this.choice.kind, (kind: Kind) => ({ kind })),
        this.picker("X", all, (index) => columns[index]!.name, this.choice.x, (x: number) => ({ x })),
        this.picker("Y", numberColumns(columns), (index) => columns[index]!.name, this.choice.y, (y: number) => ({ y })),
        this.note,
      ),
      this.stage,
    );
    new ResizeObserver(() => this.draw()).observe(this.stage);
  }

  private picker<T extends string | number>(label: string, values: T[], name: (value: T) => string, chosen: T, change: (value: T) => Partial<Choice>): HTMLElement {
    const select = element("select", {
      onchange: () => {
        this.choice = { ...this.choice!, ...change(values[select.selectedIndex]!) };
        this.draw();
      },
    });
    for (const value of values) select.append(element("option", { selected: value === chosen }, name(value)));
    return element("label", {}, label, select);
  }

  private draw(): void {
    const { choice, answer } = this;
    const width = this.stage.clientWidth;
    const height = this.stage.clientHeight;
    if (!choice || width < 40 || height < 40) return;
    const xColumn = answer.columns[choice.x]!;
    const yColumn = answer.columns[choice.y]!;
    const byRow = choice.kind === "bar" && choice.x === choice.y;
    const scaled = choice.kind !== "bar" && hasScale(xColumn);
    const most = choice.kind === "bar" ? Math.min(MOST_BARS, Math.floor((width - 60) / 3)) : MOST_POINTS;
    const usable = answer.rows.flatMap((row, index) => {
      const y = asNumber(row[choice.y]);
      const at = scaled ? placeOf(xColumn, row[choice.x]) : index;
      const x: Value = byRow ? index + 1 : (row[choice.x] ?? null);
      return y === null || at === null ? [] : [{ x, y, at }];
    });
    if (choice.kind === "line" && scaled) usable.sort((a, b) => a.at - b.at);
    const shown = choice.kind === "bar" ? usable.slice(0, most) : evenly(usable, most);
    replace(
      this.note,
      shown.length < usable.length ? `${choice.kind === "bar" ? "the first " : ""}${count(shown.length)} of ${count(usable.length)} rows` : usable.length < answer.rows.length ? `${count(answer.rows.length - usable.length)} rows have no number there` : "",
    );
    if (shown.length === 0) {
      replace(this.stage, element("p", { class: "nothing" }, "There is no number to draw."));
      return;
    }
    const ys = shown.map(({ y }) => y);
    const yAxis = numberAxis(least(ys), highest(ys), Math.max(2, Math.floor(height / 60)), choice.kind === "bar");
    const left = 14 + Math.max(...yAxis.ticks.map(({ label }) => label.length)) * 7;
    const labels = shown.map(({ x }) => short(x, LABEL_CHARACTERS));
    const plot = { left, right: width - 14, top: 26, bottom: height - 44 };
    const band = (plot.right - plot.left) / shown.length;
    const longest = Math.max(...labels.map((label) => label.length)) * 6.6;
    const slanted = !scaled && longest > band - 4;
    if (slanted) plot.bottom -= Math.min(longest * 0.62, height / 4) - 10;
    const y = (value: number) => plot.bottom - ((value - yAxis.from) / (yAxis.to - yAxis.from)) * (plot.bottom - plot.top);
    let xAxis: Axis | null = null;
    if (scaled) {
      const places = shown.map(({ at }) => at);
      const fit = Math.max(2, Math.floor((plot.right - plot.left) / 96));
      xAxis = isNumeric(xColumn) ? numberAxis(least(places), highest(places), fit, false) : timeAxis(xColumn, least(places), highest(places), fit);
    }
    const x = (at: number, index: number) =>
      xAxis ? plot.left + ((at - xAxis.from) / (xAxis.to - xAxis.from)) * (plot.right - plot.left) : plot.left + (index + 0.5) * band;
    const points: Point[] = shown.map((point, index) => ({ x: point.x, y: point.y, left: x(point.at, index), top: y(point.y) }));

    const marker = svg("circle", { class: "marker", r: 4.5, visibility: "hidden" });
    const picture = svg(
      "svg",
      {
        class: "chart",
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        tabindex: 0,
        "aria-label": `${choice.kind} chart of ${yColumn.name} by ${byRow ? "row" : xColumn.name}, ${points.length} points. The arrow keys go through them.`,
      },
      ...yAxis.ticks.flatMap((tick) => [
        svg("line", { class: tick.at === 0 ? "base" : "rule", x1: plot.left, x2: plot.right, y1: y(tick.at), y2: y(tick.at) }),
        svg("text", { class: "tick", x: plot.left - 8, y: y(tick.at) + 4, "text-anchor": "end" }, tick.label),
      ]),
      ...(xAxis ? this.scaledLabels(xAxis, plot, (at) => x(at, 0)) : this.bandLabels(labels, points, plot, slanted)),
      svg("text", { class: "axis-name", x: 8, y: 15 }, yColumn.name),
      svg("text", { class: "axis-name", x: plot.right, y: height - 6, "text-anchor": "end" }, byRow ? "row" : xColumn.name),
      ...marks(choice.kind, points, band, y(Math.max(0, yAxis.from))),
      marker,
    );
    this.interact(picture, marker, points, byRow ? "row" : xColumn.name, yColumn);
    replace(this.stage, picture, this.tip);
  }

  private scaledLabels(axis: Axis, plot: { left: number; right: number; bottom: number }, x: (at: number) => number): SVGElement[] {
    return axis.ticks.flatMap((tick) => {
      const at = x(tick.at);
      const near = tick.label.length * 3.4;
      const anchor = at - near < 0 ? "start" : at + near > plot.right + 12 ? "end" : "middle";
      return [
        svg("line", { class: "base", x1: at, x2: at, y1: plot.bottom, y2: plot.bottom + 4 }),
        svg("text", { class: "tick", x: at, y: plot.bottom + 17, "text-anchor": anchor }, tick.label),
      ];
    });
  }

  private bandLabels(labels: string[], points: Point[], plot: { bottom: number; left: number; right: number }, slanted: boolean): SVGElement[] {
    const room = slanted ? 15 : 1;
    const every = Math.max(1, Math.ceil((room * labels.length) / (plot.right - plot.left)));
    return labels.flatMap((label, index) => {
      if (index % every !== 0) return [];
      const at = points[index]!.left;
      return slanted
        ? [svg("text", { class: "tick", "text-anchor": "end", transform: `translate(${at + 4} ${plot.bottom + 13}) rotate(-40)` }, label)]
        : [svg("text", { class: "tick", "text-anchor": "middle", x: at, y: plot.bottom + 17 }, label)];
    });
  }

  private interact(picture: SVGSVGElement, marker: SVGCircleElement, points: Point[], xName: string, yColumn: Column): void {
    let at = -1;
    const show = (index: number) => {
      at = Math.min(points.length - 1, Math.max(0, index));
      const point = points[at]!;
      marker.setAttribute("cx", String(point.left));
      marker.setAttribute("cy", String(point.top));
      marker.setAttribute("visibility", "visible");
      replace(this.tip, element("span", {}, `${xName}: ${short(point.x, 80)}`), element("strong", {}, `${yColumn.name}: ${valueText(point.y)}`));
      this.tip.classList.add("shown");
      const width = this.tip.offsetWidth;
      const room = this.stage.clientWidth;
      this.tip.style.left = `${Math.max(4, Math.min(room - width - 4, point.left - width / 2))}px`;
      this.tip.style.top = `${point.top - this.tip.offsetHeight - 12 > 0 ? point.top - this.tip.offsetHeight - 12 : point.top + 14}px`;
    };
    const hide = () => {
      marker.setAttribute("visibility", "hidden");
      this.tip.classList.remove("shown");
    };
    hide();
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      let best = 0;
      let nearest = Infinity;
      points.forEach((point, index) => {
        const distance = (point.left - left) ** 2 * 4 + (point.top - top) ** 2;
        if (distance < nearest) [best, nearest] = [index, distance];
      });
      show(best);
    });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", hide);
    picture.addEventListener("keydown", (event) => {
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: points.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      show(next);
    });
  }
}

function marks(kind: Kind, points: Point[], band: number, base: number): SVGElement[] {
  if (kind === "bar") {
    const width = Math.max(1, Math.min(72, band * 0.78));
    return points.map((point) =>
      svg("rect", { class: "bar", x: point.left - width / 2, width, y: Math.min(point.top, base), height: Math.max(1, Math.abs(base - point.top)) }),
    );
  }
  if (kind === "scatter") return points.map((point) => svg("circle", { class: "dot", cx: point.left, cy: point.top, r: 3 }));
  const path = points.map((point, index) => `${index === 0 ? "M" : "L"}${point.left.toFixed(1)} ${point.top.toFixed(1)}`).join("");
  const dots = points.length <= 60 ? points.map((point) => svg("circle", { class: "bead", cx: point.left, cy: point.top, r: 2.5 })) : [];
  return [svg("path", { class: "line", d: path }), ...dots];
}

/** At most so many, from the whole length. */
function evenly<T>(all: T[], most: number): T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))]!);
}

// Spreading a long array into Math.min overflows the stack.
function least(numbers: number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b));
}

function highest(numbers: number[]): number {
  return numbers.reduce((a, b) => Math.max(a, b));
}

const MOST_BARS = 200;
const MOST_POINTS = 5000;
const LABEL_CHARACTERS = 16;
