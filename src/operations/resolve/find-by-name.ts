import {findClosestMatch} from '../../base/closest-match.js';
import type {Container, PodSandbox} from '../../cri/index.js';
import {sortNewestFirst} from '../filters/list-filters.js';
import type {PodLookup} from '../pods/pod-labels.js';
import {AmbiguousError, NotFoundError, type Target} from './target.js';

interface Identified {
  readonly id: string;
  readonly createdAt: bigint;
}

/** Naming of the objects of a kind. */
export interface ObjectKind<T> {
  readonly noun: string;
  /** Command that lists the objects. */
  readonly lister: string;
  /** Returns all names of an object. */
  readonly names: (item: T) => readonly string[];
  /** Returns the full name, which only attempts of the same object share. */
  readonly fullName: (item: T) => string;
  /** Prefix of references that names the kind, as in kubectl's `pod/web`; a name with it wins. */
  readonly prefix?: RegExp;
}

/** Returns the kind of containers. `podOf` returns their pods; if unknown, the sandbox ID replaces the pod name. */
export function createContainerKind(podOf: PodLookup): ObjectKind<Container> {
  const nameOf = ({metadata}: Container): string => metadata?.name ?? '';
  const podName = (item: Container): string => `${podOf(item)?.name ?? item.podSandboxId}/${nameOf(item)}`;
  const fullName = (item: Container): string => `${podOf(item)?.namespace ?? 'unknown'}/${podName(item)}`;
  return {
    noun: 'container',
    lister: 'kcri ps -a',
    names: (item) => [nameOf(item), podName(item), fullName(item)],
    fullName,
  };
}

/** The kind of pod sandboxes, which have the names and UIDs of their pods. */
export const SANDBOX_KIND: ObjectKind<PodSandbox> = {
  noun: 'pod',
  lister: 'kcri pods',
  names: (item) => [item.metadata?.name ?? '', sandboxName(item), item.metadata?.uid ?? ''],
  fullName: sandboxName,
  prefix: /^(pod|pods|po)\//,
};

function sandboxName({metadata}: PodSandbox): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/**
 * Returns a function that finds the objects for a reference: the object with that ID, else all with that ID prefix or
 * name, else what the reference without the prefix of the kind names.
 */
export function createFinder<T extends Identified>(
  items: readonly T[],
  kind: ObjectKind<T>,
  newestAttempt: boolean,
): (ref: string) => readonly T[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const sortedById = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const byName = new Map<string, T[]>();
  for (const item of items)
    for (const name of new Set(kind.names(item))) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [item]);
      else known.push(item);
    }
  const find = (ref: string): readonly T[] => {
    const exact = byId.get(ref);
    if (exact !== undefined) return [exact];
    if (ref === '') return [];
    const named = byName.get(ref) ?? [];
    return [
      ...new Set([
        ...startingWith(sortedById, ref),
        ...(newestAttempt ? keepNewestAttempts(named, kind) : named),
      ]),
    ];
  };
  return (ref) => {
    const found = find(ref);
    const name = kind.prefix === undefined ? ref : ref.replace(kind.prefix, '');
    return found.length > 0 || name === ref ? found : find(name);
  };
}

/** Returns the items whose ID starts with the prefix; `sortedById` is sorted by ID. */
function startingWith<T extends Identified>(sortedById: readonly T[], prefix: string): readonly T[] {
  let [start, end] = [0, sortedById.length];
  while (start < end) {
    const middle = (start + end) >> 1;
    if ((sortedById[middle]?.id ?? '') < prefix) start = middle + 1;
    else end = middle;
  }
  while (sortedById[end]?.id.startsWith(prefix) === true) end += 1;
  return sortedById.slice(start, end);
}

/** Returns the newest of the items with the same full name, which are attempts of one container or pod. */
export function keepNewestAttempts<T extends Identified>(
  items: readonly T[],
  {fullName}: ObjectKind<T>,
): readonly T[] {
  const newest = new Map<string, T>();
  for (const item of sortNewestFirst(items, undefined).toReversed()) newest.set(fullName(item), item);
  return [...newest.values()];
}

/** Returns the target of a reference, undefined if no object matches. Throws AmbiguousError if several match. */
export function toTarget<T extends Identified>(
  ref: string,
  matches: readonly T[],
  kind: ObjectKind<T>,
): Target<T['id']> | undefined {
  const [candidate] = matches;
  if (candidate === undefined) return undefined;
  if (matches.length > 1) throw ambiguous(ref, matches, kind);
  return {kind: 'found', ref, id: candidate.id};
}

/** Returns the error for a reference that matches no object. Suggests the closest of the known names. */
export function unknownNameError(
  ref: string,
  {noun, lister}: Pick<ObjectKind<never>, 'noun' | 'lister'>,
  names: readonly string[],
): NotFoundError {
  const hint = (): string => {
    if (ref === '') return 'the name is empty; check the variable that sets it';
    const closest = findClosestMatch(ref, names);
    return closest === undefined ? `run "${lister}" to list ${noun}s` : `did you mean "${closest}"?`;
  };
  return new NotFoundError(`no such ${noun} "${ref}"`, {hint: hint()});
}

/** Maximum number of candidates in an error. */
const MAX_SHOWN = 10;

function ambiguous<T extends Identified>(
  ref: string,
  matches: readonly T[],
  kind: ObjectKind<T>,
): AmbiguousError {
  const name = (item: T): string => `${item.id.slice(0, 13)} (${kind.fullName(item)})`;
  const ordered = matches.toSorted((a, b) => (kind.fullName(a) < kind.fullName(b) ? -1 : 1));
  return ambiguousError(ref, `${matches.length} ${kind.noun}s`, ordered.map(name));
}

/** Returns the error for a name that a pod and containers have, and that means different objects therefore. */
export function bothKindsError(
  ref: string,
  pod: string,
  containers: readonly Container[],
  {fullName}: ObjectKind<Container>,
): AmbiguousError {
  const names = containers.map((container) => `"${fullName(container)}"`).toSorted();
  return new AmbiguousError(`"${ref}" is both a pod and a container`, {
    hint: `use "pod/${pod}" for the pod, or ${names.slice(0, MAX_SHOWN).join(' or ')} for the container`,
  });
}

/** Returns the error for a reference that matches several objects, with the first of their names. */
export function ambiguousError(ref: string, count: string, names: readonly string[]): AmbiguousError {
  const distinct = [...new Set(names)];
  const more = distinct.length > MAX_SHOWN ? ', …' : '';
  return new AmbiguousError(`"${ref}" matches ${count}`, {
    hint: `use one of ${distinct.slice(0, MAX_SHOWN).join(', ')}${more}`,
  });
}
