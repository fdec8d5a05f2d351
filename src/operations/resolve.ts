import {containerId, podSandboxId} from '../cri/ids.js';
import type {
  Container,
  ContainerId,
  ImageService,
  PodSandbox,
  PodSandboxId,
  RuntimeService,
} from '../cri/index.js';
import {usersOf} from './containers.js';
import {isFullId} from './filters.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../cri/list-all.js';
import {
  ambiguousError,
  containerKind,
  finder,
  newestAttempts,
  SANDBOX_KIND,
  targetOf,
  NoSuchError,
  type Target,
} from './look-up.js';
import {goesBy, imageName} from './image-names.js';
import {labelledPodOf, podsOf} from './pod-labels.js';

export {NoSuchError, type Target} from './look-up.js';

/** How words are looked up. */
export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Ask the runtime about whole ids too, for calls that succeed without the object. Default false. */
  readonly verify?: boolean;
  /** A name means the newest of several attempts of one container or pod. Default true. */
  readonly newestAttempt?: boolean;
  /** Where a word that names no container is looked up as an image; it is not unless given. */
  readonly images?: ImageService;
  /** Take every word for an id and let the runtime find out, as crictl does. Default false. */
  readonly literal?: boolean;
}

/**
 * The containers that words stand for: an id, the beginning of one, a name, `pod/name`, `namespace/pod/name`, or
 * an image that only one container runs. Throws AmbiguousError, so that nothing is done to any, when a word fits
 * several containers.
 *
 * Whole ids cost no call, anything else one ListContainers for all words; then one ListPodSandbox if a word does
 * not fit exactly one and some containers have no labels of a pod, and one ListImages if a word fits none.
 */
export async function resolveContainers(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  if (isLiteral(refs, options)) return refs.map((ref) => found(ref, containerId(ref)));
  const containers = await listAllContainers(runtime, {}, options.signal);
  return await resolveAmong(runtime, refs, containers, options);
}

/** As resolveContainers, among containers that are known already. */
export async function resolveAmong(
  runtime: RuntimeService,
  refs: readonly string[],
  containers: readonly Container[],
  {signal, newestAttempt = true, images}: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  let kind = containerKind(labelledPodOf);
  let fits = refs.map(finder(containers, kind, newestAttempt));
  if (fits.some(({length}) => length !== 1)) {
    const podOf = await podsOf(runtime, containers, signal);
    kind = containerKind(podOf);
    if (podOf !== labelledPodOf) fits = refs.map(finder(containers, kind, newestAttempt));
  }
  if (images !== undefined && fits.some(({length}) => length === 0)) {
    const known = await listAllImages(images, signal);
    const users = (ref: string) => runningUsers(containers.filter(usersOf(ref, known)));
    const meant = (ref: string) => (newestAttempt ? newestAttempts(users(ref), kind) : users(ref));
    fits = fits.map((fit, index) => (fit.length === 0 ? meant(refs[index] ?? '') : fit));
  }
  return refs.map((ref, index) => targetOf(ref, fits[index] ?? [], kind));
}

/** Of the containers of an image those that run, or all when none does. */
function runningUsers(users: readonly Container[]): readonly Container[] {
  const running = users.filter(({state}) => state === 'CONTAINER_RUNNING');
  return running.length > 0 ? running : users;
}

/** The sandboxes that words stand for: an id, the beginning of one, a pod's name, `namespace/name` or its UID. */
export async function resolveSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  if (isLiteral(refs, options)) return refs.map((ref) => found(ref, podSandboxId(ref)));
  return resolveAmongSandboxes(refs, await listAllSandboxes(runtime, {}, options.signal), options);
}

/** As resolveSandboxes, among sandboxes that are known already. */
export function resolveAmongSandboxes(
  refs: readonly string[],
  sandboxes: readonly PodSandbox[],
  {newestAttempt = true}: Pick<ResolveOptions, 'newestAttempt'>,
): readonly Target<PodSandboxId>[] {
  const find = finder(sandboxes, SANDBOX_KIND, newestAttempt);
  return refs.map((ref) => targetOf(ref, find(ref), SANDBOX_KIND));
}

/**
 * The sandboxes of the one pod that a word stands for: every attempt when the pod is named, one when an id is
 * given. Throws NoSuchError and AmbiguousError.
 */
export async function resolvePod(
  runtime: RuntimeService,
  ref: string,
  signal: AbortSignal,
): Promise<readonly PodSandboxId[]> {
  if (isFullId(ref)) return [podSandboxId(ref)];
  const attempts = finder(await listAllSandboxes(runtime, {}, signal), SANDBOX_KIND, false)(ref);
  first([targetOf(ref, newestAttempts(attempts, SANDBOX_KIND), SANDBOX_KIND)]);
  return attempts.map(({id}) => id);
}

/**
 * The images that words stand for: a name, `repo@digest`, an id or the beginning of one; without a tag `latest`, or
 * the only tag that there is. What is not found so is left to the runtime. Throws AmbiguousError.
 */
export async function resolveImages(
  service: ImageService,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly Target<string>[]> {
  const images = await listAllImages(service, signal);
  return refs.map((ref) => {
    const latest = images.find((image) => goesBy(image, `${ref}:latest`));
    const fits = latest === undefined ? images.filter((image) => goesBy(image, ref)) : [latest];
    const [image] = fits;
    if (fits.length > 1) throw ambiguousError(ref, `${fits.length} images`, fits.map(imageName));
    return found(ref, image?.id ?? ref);
  });
}

/** The one container that a word stands for. Throws NoSuchError and AmbiguousError. */
export async function resolveContainer(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<ContainerId> {
  return first(await resolveContainers(runtime, [ref], options));
}

/** The one sandbox that a word stands for. Throws NoSuchError and AmbiguousError. */
export async function resolveSandbox(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<PodSandboxId> {
  return first(await resolveSandboxes(runtime, [ref], options));
}

/** Filters that were to choose what a command works on let nothing through. crictl shows its help then. */
export class NothingChosenError extends NoSuchError {}

/** That error in crictl's words; `lister` is the command that shows all. */
export function nothingFound(lister: string): NothingChosenError {
  return new NothingChosenError('No IDs provided or nothing found per filter', {
    hint: `"${lister}" lists what there is`,
  });
}

function isLiteral(refs: readonly string[], {literal = false, verify = false}: ResolveOptions): boolean {
  return literal || (!verify && refs.every(isFullId));
}

function found<Id>(ref: string, id: Id): Target<Id> {
  return {kind: 'found', ref, id};
}

function first<Id>([target]: readonly Target<Id>[]): Id {
  if (target?.kind === 'found') return target.id;
  throw target?.error ?? new Error('a lookup of one word gave nothing');
}
