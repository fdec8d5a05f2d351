/** Colors of the page: those of the system, or chosen. */
export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const STORED = 'kcri.theme';

/** Returns the chosen colors. */
export function currentTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

/** Changes the colors, and remembers them. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  restoreTheme();
}

/** Shows the page in the chosen colors. */
export function restoreTheme(): void {
  const theme = currentTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
