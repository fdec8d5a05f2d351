/** Colors of the page: those of the system, or chosen. */
export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const STORED = 'kcri.theme';
const DARK = matchMedia('(prefers-color-scheme: dark)');

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

/** Shows the page in the chosen colors, and follows the system if they are its colors. */
export function followTheme(): void {
  restoreTheme();
  DARK.addEventListener('change', restoreTheme);
}

function restoreTheme(): void {
  const theme = currentTheme();
  const ofSystem = DARK.matches ? 'dark' : 'light';
  document.documentElement.dataset['theme'] = theme === 'system' ? ofSystem : theme;
}
