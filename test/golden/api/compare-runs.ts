import type {CanonicalRun} from './api-cases.js';
import {sortedJson} from './canonical-api.js';

/** A part of a case in which two kubelets differ. */
export interface Difference {
  /** Such as `pods.p.tracks.phase` or `events Pod p Normal Killing`. */
  readonly unit: string;
  readonly recorded: unknown;
  readonly actual: unknown;
}

/**
 * Compares two runs unit by unit. Tracks agree if one is the other with values left out and both end alike, since statuses
 * coalesce.
 */
export function compareRuns(recorded: CanonicalRun, actual: CanonicalRun): readonly Difference[] {
  const [left, right] = [unitsOf(recorded), unitsOf(actual)];
  return [...new Set([...left.keys(), ...right.keys()])].toSorted().flatMap((unit) => {
    const [a, b] = [left.get(unit), right.get(unit)];
    if (sortedJson(a ?? null) === sortedJson(b ?? null)) return [];
    if (unit.includes('.tracks.') && agree(a, b)) return [];
    return [{unit, recorded: a, actual: b}];
  });
}

function unitsOf({pods, events}: CanonicalRun): Map<string, readonly unknown[]> {
  const units = new Map<string, readonly unknown[]>();
  for (const [name, {writes, tracks}] of Object.entries(pods)) {
    units.set(`pods.${name}.writes`, writes);
    for (const [track, values] of Object.entries(tracks)) units.set(`pods.${name}.tracks.${track}`, values);
  }
  for (const event of events) {
    // Refused events about the node are in the recordings of some pods.
    if (String(event[0]) === 'Node') continue;
    const unit = `events ${event.slice(0, 3).map(String).join(' ')}`;
    units.set(unit, [...(units.get(unit) ?? []), event.slice(3)]);
  }
  return units;
}

function agree(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  if (a.length === 0 || b.length === 0 || a.at(-1) !== b.at(-1)) return false;
  return isSubsequence(a, b) || isSubsequence(b, a);
}

function isSubsequence(short: readonly unknown[], long: readonly unknown[]): boolean {
  let found = 0;
  for (const value of long) if (value === short[found]) found += 1;
  return found === short.length;
}
