/** Light or dark: as the system says, until the reader chooses. */

import { button, icon } from "./element";
import { store } from "./store";

export function themeSwitch(): HTMLButtonElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = store.read(KEY);
  const isDark = () => (chosen ? chosen === "dark" : dark.matches);
  const node = button("Dark theme", {
    class: "quiet",
    onclick: () => {
      chosen = isDark() ? "light" : "dark";
      // The choice that the system would make too is none.
      if ((chosen === "dark") === dark.matches) chosen = null;
      store.write(KEY, chosen);
      apply();
    },
  }, icon("M8 1.8a6.2 6.2 0 1 0 0 12.4zM8 1.8a6.2 6.2 0 0 1 0 12.4"));
  const apply = () => {
    if (chosen) document.documentElement.dataset["theme"] = chosen;
    else delete document.documentElement.dataset["theme"];
    node.setAttribute("aria-pressed", String(isDark()));
  };
  dark.addEventListener("change", apply);
  apply();
  return node;
}

const KEY = "theme";
