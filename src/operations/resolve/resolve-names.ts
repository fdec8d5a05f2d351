import {containerId, podSandboxId} from '../../cri/ids.js';
import type {
  Container,
  ContainerId,
  ImageService,
  PodSandbox,
  PodSandboxId,
  RuntimeService,
} from '../../cri/index.js';
import {createImageUserMatcher} from '../containers/list-containers.js';
import {isFullId} from '../filters/list-filters.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../../cri/list-all.js';
import {
  ambiguousError,
  createContainerKind,
  createFinder,
  keepNewestAttempts,
  SANDBOX_KIND,
  toTarget,
  NotFoundError,
  type Target,
} from './find-by-name.js';
import {matchesImageName, imageDisplayName} from '../images/image-matching.js';
import {podFromLabels, createPodLookup} from '../pods/pod-labels.js';

export {NotFoundError, type Target} from './find-by-name.js';

/** Options of the resolve functions. */
export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Verifies full IDs with the runtime too, for calls that succeed without the object. Default false. */
  readonly verify?: boolean;
  /** Resolves a name to the newest attempt of a container or pod. Default true. */
  readonly newestAttempt?: boolean;
  /** Image service to also match images by, for references that match no container. */
  readonly images?: ImageService;
  /** Takes every reference for an ID and lets the runtime check it, as crictl does. Default false. */
  readonly literal?: boolean;
}

/**
 * Resolves references to containers: an ID, an ID prefix, a name, `pod/name`, `namespace/pod/name`, or an image that
 * a single container uses. Rejects with AmbiguousError, before anything is done, if a reference matches several
 * containers.
 *
 * Full IDs need no call; anything else needs one ListContainers call in total, a ListPodSandbox call if a reference
 * does not match exactly one and some containers lack pod labels, and a ListImages call if a reference matches none.
 */
export async function resolveContainers(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  if (isLiteral(refs, options)) return refs.map((ref) => found(ref, containerId(ref)));
  const containers = await listAllContainers(runtime, {}, options.signal);
  return await resolveContainersAmong(runtime, refs, containers, options);
}

/** Resolves references as resolveContainers does, among the given containers. */
export async function resolveContainersAmong(
  runtime: RuntimeService,
  refs: readonly string[],
  containers: readonly Container[],
  {signal, newestAttempt = true, images}: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  let kind = createContainerKind(podFromLabels);
  let matches = refs.map(createFinder(containers, kind, newestAttempt));
  if (matches.some(({length}) => length !== 1)) {
    const podOf = await createPodLookup(runtime, containers, signal);
    kind = createContainerKind(podOf);
    if (podOf !== podFromLabels) matches = refs.map(createFinder(containers, kind, newestAttempt));
  }
  if (images !== undefined && matches.some(({length}) => length === 0)) {
    const known = await listAllImages(images, signal);
    const users = (ref: string) => runningUsers(containers.filter(createImageUserMatcher(ref, known)));
    const candidates = (ref: string) => (newestAttempt ? keepNewestAttempts(users(ref), kind) : users(ref));
    matches = matches.map((found, index) => (found.length === 0 ? candidates(refs[index] ?? '') : found));
  }
  return refs.map((ref, index) => toTarget(ref, matches[index] ?? [], kind));
}

/** Returns the running containers of an image, or all if none is running. */
function runningUsers(users: readonly Container[]): readonly Container[] {
  const running = users.filter(({state}) => state === 'CONTAINER_RUNNING');
  return running.length > 0 ? running : users;
}

/** Resolves references to sandboxes: an ID, an ID prefix, a pod name, `namespace/name` or UID. */
export async function resolveSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  if (isLiteral(refs, options)) return refs.map((ref) => found(ref, podSandboxId(ref)));
  return resolveSandboxesAmong(refs, await listAllSandboxes(runtime, {}, options.signal), options);
}

/** Resolves references as resolveSandboxes does, among the given sandboxes. */
export function resolveSandboxesAmong(
  refs: readonly string[],
  sandboxes: readonly PodSandbox[],
  {newestAttempt = true}: Pick<ResolveOptions, 'newestAttempt'>,
): readonly Target<PodSandboxId>[] {
  const find = createFinder(sandboxes, SANDBOX_KIND, newestAttempt);
  return refs.map((ref) => toTarget(ref, find(ref), SANDBOX_KIND));
}

/**
 * Resolves a reference to the sandboxes of a single pod: all attempts for the name of a pod, one for an ID. Rejects
 * with NotFoundError and AmbiguousError.
 */
export async function resolvePod(
  runtime: RuntimeService,
  ref: string,
  signal: AbortSignal,
): Promise<readonly PodSandboxId[]> {
  if (isFullId(ref)) return [podSandboxId(ref)];
  const attempts = createFinder(await listAllSandboxes(runtime, {}, signal), SANDBOX_KIND, false)(ref);
  first([toTarget(ref, keepNewestAttempts(attempts, SANDBOX_KIND), SANDBOX_KIND)]);
  return attempts.map(({id}) => id);
}

/**
 * Resolves references to images: a name, `repo@digest`, an ID or ID prefix; without a tag, `latest` or the only tag.
 * References without a match are left to the runtime. Rejects with AmbiguousError.
 */
export async function resolveImages(
  service: ImageService,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<readonly Target<string>[]> {
  const images = await listAllImages(service, signal);
  return refs.map((ref) => {
    const latest = images.find((image) => matchesImageName(image, `${ref}:latest`));
    const matches = latest === undefined ? images.filter((image) => matchesImageName(image, ref)) : [latest];
    const [image] = matches;
    if (matches.length > 1)
      throw ambiguousError(ref, `${matches.length} images`, matches.map(imageDisplayName));
    return found(ref, image?.id ?? ref);
  });
}

/** Resolves a reference to a single container. Rejects with NotFoundError and AmbiguousError. */
export async function resolveContainer(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<ContainerId> {
  return first(await resolveContainers(runtime, [ref], options));
}

/** Resolves a reference to a single sandbox. Rejects with NotFoundError and AmbiguousError. */
export async function resolveSandbox(
  runtime: RuntimeService,
  ref: string,
  options: ResolveOptions,
): Promise<PodSandboxId> {
  return first(await resolveSandboxes(runtime, [ref], options));
}

/** The filters of a command match no objects. crictl shows its help in this case. */
export class NothingFoundError extends NotFoundError {}

/** Returns that error with crictl's text. `lister` is the command that lists all objects. */
export function nothingFoundError(lister: string): NothingFoundError {
  return new NothingFoundError('No IDs provided or nothing found per filter', {
    hint: `run "${lister}" to list all`,
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
  throw target?.error ?? new Error('resolving one reference returned no target');
}
