// What is checked within the page, in every state of it. Each function runs in the browser, and stands alone for that.

/** Visible texts whose contrast with what is behind them is below WCAG AA. */
export function faintTexts() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const light = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = parentOf(at)) {
      const layer = rgba(getComputedStyle(at).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const found = new Set();
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (node.shadowRoot) visit(node.shadowRoot);
        continue;
      }
      const element = node.parentElement;
      if (!element || !node.textContent.trim() || element.closest("button:disabled, option, style, script, noscript, title, .off-screen, [aria-hidden=true]")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const below = behind(element);
      const color = rgba(element instanceof SVGElement ? style.fill : style.color);
      const [a, b] = [light(over(color, below)), light(below)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) found.add(`${contrast.toFixed(2)} ${element.tagName}.${element.getAttribute("class")} "${node.textContent.trim().slice(0, 20)}"`);
    }
  };
  visit(document.body);
  return [...found];
}

/** Controls without a name, and tabs, grids and dialogs that lack what their role needs. */
export function unnamedControls() {
  const name = (node) => node.getAttribute("aria-label") || document.getElementById(node.getAttribute("aria-labelledby"))?.textContent || node.labels?.[0]?.textContent || node.textContent.trim();
  const nodes = [...document.querySelectorAll("button, a, input, select, [role=tab], [role=grid], [role=tabpanel], dialog, [role=region], nav")];
  const unnamed = nodes.filter((node) => !name(node)).map((node) => node.outerHTML.slice(0, 120));
  const tabs = [...document.querySelectorAll("[role=tab]")].filter((node) => !node.closest("[hidden]") && !document.getElementById(node.getAttribute("aria-controls")));
  return [...unnamed, ...tabs.map((node) => `no panel: ${node.outerHTML.slice(0, 120)}`)];
}
