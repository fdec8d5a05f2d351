import {readFileSync} from 'node:fs';

/** kcri's version. In the bundle the number itself stands here (scripts/bundle/replacements.mjs). */
export function programVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(file) as {version: unknown}).version);
}
