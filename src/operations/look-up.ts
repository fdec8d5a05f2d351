import {KcriError} from '../base/errors.js';
import type {Container, PodSandbox} from '../cri/index.js';
import {newestFirst} from './filters.js';
import type {PodOf} from './pod-labels.js';

/** Nothing of that id or name exists. */
export class NoSuchError extends KcriError {
  readonly code = 'NOT_FOUND';
}

/** An id's beginning or a name fits several objects. */
export class AmbiguousError extends KcriError {
  readonly code = 'AMBIGUOUS';
}

/** What a word on the command line stands for: an object's id, or why there is none. */
export type Target<Id> =
  | {readonly kind: 'found'; readonly ref: string; readonly id: Id}
  | {readonly kind: 'missing'; readonly ref: string; readonly error: NoSuchError};

interface Identified {
  readonly id: string;
  readonly createdAt: bigint;
}

/** How objects of a kind are called. */
export interface Kind<T> {
  readonly noun: string;
  /** The command that lists them. */
  readonly lister: string;
  /** Everything that one may be called by. */
  readonly names: (item: T) => readonly string[];
  /** The whole name, which only attempts of one thing share. */
  readonly fullName: (item: T) => string;
}

/** Containers; `podOf` tells their pods. One whose pod isn't known has its sandbox's id in the pod's place. */
export function containerKind(podOf: PodOf): Kind<Container> {
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

/** Pod sandboxes, called by their pods' names and UIDs. */
export const SANDBOX_KIND: Kind<PodSandbox> = {
  noun: 'pod',
  lister: 'kcri pods',
  names: (item) => [item.metadata?.name ?? '', sandboxName(item), item.metadata?.uid ?? ''],
  fullName: sandboxName,
};

function sandboxName({metadata}: PodSandbox): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** Finds what words fit: the object of that id, else all whose id begins so and all of that name. */
export function finder<T extends Identified>(
  items: readonly T[],
  kind: Kind<T>,
  newestAttempt: boolean,
): (ref: string) => readonly T[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const inOrder = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const byName = new Map<string, T[]>();
  for (const item of items)
    for (const name of new Set(kind.names(item))) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [item]);
      else known.push(item);
    }
  return (ref) => {
    const exact = byId.get(ref);
    if (exact !== undefined) return [exact];
    if (ref === '') return [];
    const named = byName.get(ref) ?? [];
    return [
      ...new Set([...startingWith(inOrder, ref), ...(newestAttempt ? newestAttempts(named, kind) : named)]),
    ];
  };
}

/** Those of items ordered by id whose id begins so. */
function startingWith<T extends Identified>(inOrder: readonly T[], prefix: string): readonly T[] {
  let [start, end] = [0, inOrder.length];
  while (start < end) {
    const middle = (start + end) >> 1;
    if ((inOrder[middle]?.id ?? '') < prefix) start = middle + 1;
    else end = middle;
  }
  while (inOrder[end]?.id.startsWith(prefix) === true) end += 1;
  return inOrder.slice(start, end);
}

/** Attempts of one container or pod share their whole name; the newest of each is left. */
export function newestAttempts<T extends Identified>(items: readonly T[], {fullName}: Kind<T>): readonly T[] {
  const newest = new Map<string, T>();
  for (const item of newestFirst(items, undefined).toReversed()) newest.set(fullName(item), item);
  return [...newest.values()];
}

/** The target that a word has become. Throws AmbiguousError when it fits several objects. */
export function targetOf<T extends Identified>(
  ref: string,
  fits: readonly T[],
  kind: Kind<T>,
): Target<T['id']> {
  const [candidate] = fits;
  if (candidate === undefined) return {kind: 'missing', ref, error: noSuch(ref, kind)};
  if (fits.length > 1) throw ambiguous(ref, fits, kind);
  return {kind: 'found', ref, id: candidate.id};
}

function noSuch<T>(ref: string, {noun, lister}: Kind<T>): NoSuchError {
  return new NoSuchError(`no such ${noun} "${ref}"`, {hint: `"${lister}" lists what there is`});
}

/** How many candidates an error names. */
const SHOWN = 10;

function ambiguous<T extends Identified>(ref: string, fits: readonly T[], kind: Kind<T>): AmbiguousError {
  const name = (item: T): string => `${item.id.slice(0, 13)} (${kind.fullName(item)})`;
  const ordered = fits.toSorted((a, b) => (kind.fullName(a) < kind.fullName(b) ? -1 : 1));
  return ambiguousError(ref, `${fits.length} ${kind.noun}s`, ordered.map(name));
}

/** The error for a word that fits several things, with the first of their names. */
export function ambiguousError(ref: string, count: string, names: readonly string[]): AmbiguousError {
  const more = names.length > SHOWN ? ', …' : '';
  return new AmbiguousError(`"${ref}" fits ${count}`, {
    hint: `name one of ${names.slice(0, SHOWN).join(', ')}${more}`,
  });
}
