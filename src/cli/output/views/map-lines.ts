import {byKey} from '../../../base/compare.js';

/** Formats a map below a title as crictl does, sorted by key; empty for an empty map. */
export function mapLines(title: string, map: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(map).sort(byKey);
  return entries.length === 0 ? [] : [title, ...entries.map(([key, value]) => `\t${key} -> ${value}`)];
}
