import {omit} from '../../base/omit.js';
import {containerId, podSandboxId} from '../../cri/ids.js';
import type {
  Container,
  ContainerId,
  ImageService,
  PodSandbox,
  PodSandboxId,
  RuntimeService,
} from '../../cri/index.js';
import {isFullId} from '../filters/full-id.js';
import {idFilter} from '../filters/list-filters.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../../cri/list-all.js';
import {
  ambiguousError,
  bothKindsError,
  createContainerKind,
  createFinder,
  keepNewestAttempts,
  SANDBOX_KIND,
  toTarget,
  type ObjectKind,
} from './find-by-name.js';
import {createImageUserMatcher, imageDisplayName, matchesImageName} from '../filters/image-matching.js';
import {podFromLabels, createPodLookup} from '../pods/pod-labels.js';
import type {ContainerChooser, ResolveOptions} from './resolve-options.js';
import {requireTarget, type Target} from './target.js';

/**
 * Resolves references as resolveContainers does, also full IDs. Takes one ListContainers call in total, a ListPodSandbox call if a
 * reference does not match exactly one and some containers lack pod labels, or if a reference matches none or may be
 * a pod, and a ListImages call if it does not match a pod either.
 */
export async function lookUpContainers(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const containers = await listAllContainers(runtime, idFilter(refs, containerId), options.signal);
  return await resolveAmong(runtime, refs, {...options, containers, mayNamePods: true});
}

/** Resolves references as resolveContainers does, among the given containers; their names precede those of pods. */
export async function resolveContainersAmong(
  runtime: RuntimeService,
  refs: readonly string[],
  containers: readonly Container[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  return await resolveAmong(runtime, refs, {...options, containers, mayNamePods: false});
}

async function resolveAmong(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions & {readonly containers: readonly Container[]; readonly mayNamePods: boolean},
): Promise<readonly Target<ContainerId>[]> {
  const {containers, mayNamePods, signal, newestAttempt = true, images, chooseContainer, command} = options;
  const {kind, matches} = await matchNames(runtime, refs, containers, options);
  const newest = (found: readonly Container[]) => (newestAttempt ? keepNewestAttempts(found, kind) : found);
  let sandboxes: Promise<readonly PodSandbox[]> | undefined;
  const listPods = () => (sandboxes ??= listAllSandboxes(runtime, idFilter(refs, podSandboxId), signal));
  const named = refs.map((ref, index) => ({ref, found: matches[index] ?? []}));
  const maybePods = named.filter(({ref, found: [first]}) => first !== undefined && first.id !== ref);
  if (mayNamePods && chooseContainer !== undefined && maybePods.length > 0)
    await requireSingleMeaning(maybePods, {kind, sandboxes: await listPods(), choose: chooseContainer});
  let targets: readonly (Target<ContainerId> | undefined)[] = named.map(({ref, found}) =>
    toTarget(ref, found, kind),
  );
  if (chooseContainer !== undefined)
    targets = await fillMissing(targets, refs, async (missing) =>
      chooseFromPods(missing, await listPods(), chooseContainer),
    );
  if (images !== undefined)
    targets = await fillMissing(targets, refs, async (missing) => {
      const known = await listAllImages(images, signal);
      const users = (ref: string) => runningUsers(containers.filter(createImageUserMatcher(ref, known)));
      return missing.map((ref) => toTarget(ref, newest(users(ref)), kind));
    });
  return await fillMissing(targets, refs, async (missing) => {
    const pods = missing.every((ref) => ref === '') ? [] : await listPods();
    const candidates = {containers, kind, sandboxes: pods, acceptsPods: chooseContainer !== undefined};
    const {explainMissingContainers} = await explanations();
    return explainMissingContainers(missing, candidates, command);
  });
}

/** Containers that a reference other than an ID names. */
interface NamedContainers {
  readonly ref: string;
  readonly found: readonly Container[];
}

/**
 * Rejects with AmbiguousError if a reference also names a pod of which another container would be chosen. A prefix such
 * as `pod/` does not count: the reference names a container of a pod called `pod`.
 */
async function requireSingleMeaning(
  named: readonly NamedContainers[],
  {
    kind,
    sandboxes,
    choose,
  }: {
    readonly kind: ObjectKind<Container>;
    readonly sandboxes: readonly PodSandbox[];
    readonly choose: ContainerChooser;
  },
): Promise<void> {
  const find = createFinder(sandboxes, omit(SANDBOX_KIND, 'prefix'), true);
  for (const {ref, found} of named) {
    const pods = find(ref);
    toTarget(ref, pods, SANDBOX_KIND); // throws if several match
    const [pod] = pods;
    if (pod === undefined) continue;
    const chosen = await choose(ref, pod.id, {quiet: true});
    if (chosen.kind !== 'found' || found.some(({id}) => id !== chosen.id))
      throw bothKindsError(ref, SANDBOX_KIND.fullName(pod), found, kind);
  }
}

/** Returns the containers that each reference matches by ID or name, and the kind by which they were matched. */
async function matchNames(
  runtime: RuntimeService,
  refs: readonly string[],
  containers: readonly Container[],
  {signal, newestAttempt = true}: ResolveOptions,
) {
  const kind = createContainerKind(podFromLabels);
  const matches = refs.map(createFinder(containers, kind, newestAttempt));
  if (matches.every(({length}) => length === 1)) return {kind, matches};
  const podOf = await createPodLookup(runtime, containers, signal);
  if (podOf === podFromLabels) return {kind, matches};
  const byPod = createContainerKind(podOf);
  return {kind: byPod, matches: refs.map(createFinder(containers, byPod, newestAttempt))};
}

/** Returns the targets, with those that are undefined replaced by what `find` returns for their references. */
async function fillMissing<T, U>(
  targets: readonly (T | undefined)[],
  refs: readonly string[],
  find: (missing: readonly string[]) => Promise<readonly U[]>,
): Promise<readonly (T | U)[]> {
  const missing = refs.filter((_, index) => targets[index] === undefined);
  if (missing.length === 0) return targets as readonly T[];
  const found = (await find(missing)).values();
  return targets.map((target) => target ?? (found.next().value as U));
}

async function chooseFromPods(
  refs: readonly string[],
  sandboxes: readonly PodSandbox[],
  choose: ContainerChooser,
): Promise<readonly (Target<ContainerId> | undefined)[]> {
  const find = createFinder(sandboxes, SANDBOX_KIND, true);
  const pods = refs.map((ref) => toTarget(ref, find(ref), SANDBOX_KIND));
  return await Promise.all(
    pods.map(async (pod) => (pod?.kind === 'found' ? await choose(pod.ref, pod.id) : undefined)),
  );
}

/** Returns the running containers of an image, or all if none is running. */
function runningUsers(users: readonly Container[]): readonly Container[] {
  const running = users.filter(({state}) => state === 'CONTAINER_RUNNING');
  return running.length > 0 ? running : users;
}

/** Resolves references as resolveSandboxes does, also full IDs. */
export async function lookUpSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  const sandboxes = await listAllSandboxes(runtime, idFilter(refs, podSandboxId), options.signal);
  return await resolveSandboxesAmong(runtime, refs, sandboxes, options);
}

/** Resolves references as resolveSandboxes does, among the given sandboxes. */
export async function resolveSandboxesAmong(
  runtime: RuntimeService,
  refs: readonly string[],
  sandboxes: readonly PodSandbox[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  const find = createFinder(sandboxes, SANDBOX_KIND, options.newestAttempt ?? true);
  const targets = refs.map((ref) => toTarget(ref, find(ref), SANDBOX_KIND));
  return await fillMissing(targets, refs, async (missing) =>
    (await explanations()).explainMissingSandboxes(runtime, missing, sandboxes, options),
  );
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
  const sandboxes = await listAllSandboxes(runtime, {}, signal);
  requireTarget((await resolveSandboxesAmong(runtime, [ref], sandboxes, {signal}))[0]);
  return createFinder(sandboxes, SANDBOX_KIND, false)(ref).map(({id}) => id);
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
    return {kind: 'found', ref, id: image?.id ?? ref};
  });
}

/** Loads the code for references that match nothing, which few runs need. */
const explanations = async () => await import('./missing-objects.js');
