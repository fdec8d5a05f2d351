import {byKey} from '../../base/compare.js';

/** A map under its title as crictl's blocks show it, sorted by key; nothing at all when it is empty. */
export function mapLines(title: string, map: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(map).sort(byKey);
  return entries.length === 0 ? [] : [title, ...entries.map(([key, value]) => `\t${key} -> ${value}`)];
}
