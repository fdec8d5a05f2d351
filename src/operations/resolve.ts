import {KcriError} from '../base/errors.js';
import {
  containerId,
  podSandboxId,
  type Container,
  type ContainerId,
  type PodSandbox,
  type PodSandboxId,
  type RuntimeService,
} from '../cri/index.js';
import {isFullId, newestFirst} from './filters.js';
import {podNameOf, podNamespaceOf} from './pod-labels.js';

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

/** How words are looked up. */
export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Ask the runtime about whole ids too, for calls that succeed without the object. Default false. */
  readonly verify?: boolean;
  /** A name means the newest of several attempts of one container or pod. Default true. */
  readonly newestAttempt?: boolean;
}

/**
 * The containers that words stand for: an id, the beginning of one, a name, `pod/name` or
 * `namespace/pod/name`. Whole ids cost no call, anything else one ListContainers for all. Throws
 * AmbiguousError, so that nothing is done to any, when a word fits several containers.
 */
export async function resolveContainers(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  if (options.verify !== true && refs.every(isFullId)) return refs.map((ref) => found(ref, containerId(ref)));
  const {containers} = await runtime.listContainers({}, {signal: options.signal});
  return refs.map((ref) => pick(ref, containers, CONTAINER, options));
}

/** The sandboxes that words stand for: an id, the beginning of one, a pod's name or `namespace/name`. */
export async function resolveSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  if (options.verify !== true && refs.every(isFullId))
    return refs.map((ref) => found(ref, podSandboxId(ref)));
  const {items} = await runtime.listPodSandbox({}, {signal: options.signal});
  return refs.map((ref) => pick(ref, items, SANDBOX, options));
}

/** The one container that a word stands for. Throws NoSuchError and AmbiguousError. */
export async function resolveContainer(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<ContainerId> {
  return only(await resolveContainers(runtime, [ref], options));
}

/** The one sandbox that a word stands for. Throws NoSuchError and AmbiguousError. */
export async function resolveSandbox(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<PodSandboxId> {
  return only(await resolveSandboxes(runtime, [ref], options));
}

/** The error, in crictl's words, for filters that let nothing through; `lister` is the command that shows all. */
export function nothingFound(lister: string): NoSuchError {
  return new NoSuchError('No IDs provided or nothing found per filter', {
    hint: `"${lister}" lists what there is`,
  });
}

function only<Id>([target]: readonly Target<Id>[]): Id {
  if (target?.kind === 'found') return target.id;
  throw target?.error ?? new Error('a lookup of one word gave nothing');
}

interface Identified {
  readonly id: string;
  readonly createdAt: bigint;
}

interface Kind<T> {
  readonly noun: string;
  readonly lister: string;
  /** The object's names, the most exact one last. */
  readonly names: (item: T) => readonly string[];
}

const CONTAINER: Kind<Container> = {
  noun: 'container',
  lister: 'kcri ps -a',
  names: (item) => {
    const name = item.metadata?.name ?? '';
    const pod = `${podNameOf(item) ?? item.podSandboxId}/${name}`;
    return [name, pod, `${podNamespaceOf(item) ?? 'unknown'}/${pod}`];
  },
};

const SANDBOX: Kind<PodSandbox> = {
  noun: 'pod',
  lister: 'kcri pods',
  names: ({metadata}) => {
    const name = metadata?.name ?? '';
    return [name, `${metadata?.namespace ?? ''}/${name}`];
  },
};

function pick<T extends Identified>(
  ref: string,
  items: readonly T[],
  kind: Kind<T>,
  {newestAttempt = true}: ResolveOptions,
): Target<T['id']> {
  const byId = items.filter(({id}) => ref !== '' && id.startsWith(ref));
  const exact = byId.find(({id}) => id === ref);
  if (exact !== undefined) return found(ref, exact.id);
  const byName = items.filter((item) => kind.names(item).includes(ref));
  const named = newestAttempt ? newestPerName(byName, kind) : byName;
  const candidates = [...new Set([...byId, ...named])];
  if (candidates.length > 1) throw ambiguous(ref, candidates, kind);
  const [candidate] = candidates;
  return candidate === undefined ? missing(ref, kind) : found(ref, candidate.id);
}

/** Attempts of one container or pod share all their names; only the newest is meant by them. */
function newestPerName<T extends Identified>(items: readonly T[], {names}: Kind<T>): readonly T[] {
  const newest = new Map<string, T>();
  for (const item of newestFirst(items, undefined).toReversed()) newest.set(names(item).at(-1) ?? '', item);
  return [...newest.values()];
}

function found<Id>(ref: string, id: Id): Target<Id> {
  return {kind: 'found', ref, id};
}

function missing<T>(ref: string, {noun, lister}: Kind<T>): Target<never> {
  const error = new NoSuchError(`no such ${noun} "${ref}"`, {hint: `"${lister}" lists what there is`});
  return {kind: 'missing', ref, error};
}

function ambiguous<T extends Identified>(
  ref: string,
  candidates: readonly T[],
  kind: Kind<T>,
): AmbiguousError {
  const shown = candidates
    .slice(0, 10)
    .map((item) => `${item.id.slice(0, 13)} (${kind.names(item).at(-1) ?? ''})`);
  const more = candidates.length > shown.length ? ', …' : '';
  return new AmbiguousError(`"${ref}" fits ${candidates.length} ${kind.noun}s`, {
    hint: `name one of ${shown.join(', ')}${more}`,
  });
}
