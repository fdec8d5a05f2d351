import {containerId, podSandboxId} from '../../cri/ids.js';
import type {ContainerId, PodSandboxId, RuntimeService} from '../../cri/index.js';
import {isFullId} from '../filters/full-id.js';
import type {ResolveOptions} from './resolve-options.js';
import {requireTarget, type NotFoundError, type Target} from './target.js';

/**
 * Resolves references to containers: an ID, an ID prefix, a name, `pod/name`, `namespace/pod/name`, a pod if
 * `chooseContainer` is set, or an image that a single container uses. Rejects with AmbiguousError, before anything is
 * done, if a reference matches several, or a container and a pod of which another container would be chosen.
 *
 * Full IDs need no call unless the runtime does not know one (actOnTarget), or `verify` is set.
 */
export async function resolveContainers(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {looksUpUnknown = options.chooseContainer !== undefined} = options;
  const lookUp = async () => (await byLists()).lookUpContainers(runtime, refs, options);
  const direct = directTargets(
    refs,
    containerId,
    {...options, looksUpUnknown},
    {
      lookUp,
      explain: async (ref) => (await explanations()).podInsteadOfContainer(runtime, ref, options),
    },
  );
  return direct ?? (await lookUp());
}

/** Resolves references to sandboxes: an ID, an ID prefix, a pod name, `pod/name`, `namespace/name` or UID. */
export async function resolveSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  const lookUp = async () => (await byLists()).lookUpSandboxes(runtime, refs, options);
  const direct = directTargets(refs, podSandboxId, options, {
    lookUp,
    explain: async (ref) => (await explanations()).containerInsteadOfPod(runtime, ref, options),
  });
  return direct ?? (await lookUp());
}

/** Look-ups of a kind of objects. */
interface LookUps<Id> {
  /** Resolves all references by lists. */
  readonly lookUp: () => Promise<readonly Target<Id>[]>;
  /** Returns the error for the ID of an object of the other kind; undefined if it is not one. */
  readonly explain: (ref: string) => Promise<NotFoundError | undefined>;
}

/** Returns the targets of references that are not looked up: full IDs, and all in crictl's dialect. */
function directTargets<Id>(
  refs: readonly string[],
  toId: (ref: string) => Id,
  {literal = false, verify = false, looksUpUnknown = false}: ResolveOptions,
  {lookUp, explain}: LookUps<Id>,
): readonly Target<Id>[] | undefined {
  if (literal) return refs.map((ref) => ({kind: 'found', ref, id: toId(ref)}));
  if (verify || !refs.every(isFullId)) return undefined;
  let all: ReturnType<typeof lookUp> | undefined;
  return refs.map((ref, index) => ({
    kind: 'found',
    ref,
    id: toId(ref),
    lookUp: async () => {
      if (looksUpUnknown) return (await (all ??= lookUp()))[index];
      // If the search fails too, the first failure is reported.
      const error = await explain(ref).catch(() => undefined);
      return error && {kind: 'missing', ref, error};
    },
  }));
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

/** Loads the code for names, which full IDs do not need. */
const byLists = async () => await import('./resolve-by-lists.js');

/** Loads the code for references that match nothing, which few runs need. */
const explanations = async () => await import('./missing-objects.js');

function first<Id>([target]: readonly Target<Id>[]): Id {
  return requireTarget(target).id;
}
