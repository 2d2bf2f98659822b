// Light or dark theme: that of the system until the button changes it.

import { byId } from "./dom.js";
import { t } from "./words.js";

export function themeButton() {
  const button = byId("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const update = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    button.textContent = isDark() ? t("light") : t("dark");
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    update();
  });
  dark.addEventListener("change", update);
  update();
}
