/** Builds DOM nodes. Text reaches the document through text nodes alone, never as markup. */

export type Child = Node | string | null | undefined | false;

type Value = string | number | boolean | null | undefined | ((event: never) => void);

/** Attributes, and listeners under `on…` names. `false`, `null` and `undefined` leave an attribute out. */
export type Properties = Record<string, Value>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), properties, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

/** Replaces what a node holds. */
export function replace(node: Element, ...children: Child[]): void {
  node.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

/** A button that does not submit anything. */
export function button(label: string, properties: Properties, ...children: Child[]): HTMLButtonElement {
  const named = children.length > 0 ? { "aria-label": label, title: label } : {};
  return element("button", { type: "button", ...named, ...properties }, ...(children.length > 0 ? children : [label]));
}

/** An icon of the page, drawn with lines in the colour of the text around it. */
export function icon(path: string): SVGSVGElement {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: path }));
}

function fill<E extends Element>(node: E, properties: Properties, children: Child[]): E {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value as unknown as EventListener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child): child is Node | string => !!child));
  return node;
}
