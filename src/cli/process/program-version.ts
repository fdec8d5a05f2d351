import {readFileSync} from 'node:fs';

/** Returns the version of kcri. The bundle inlines the number (scripts/bundle/replacements.mjs). */
export function programVersion(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(file) as {version: unknown}).version);
}
