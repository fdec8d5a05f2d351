import type {Connection, ContainerId} from '../cri/index.js';
import {listContainers, type ContainerQuery} from '../operations/containers.js';
import {
  nothingFound,
  resolveAmong,
  resolveContainers,
  resolvePod,
  type ResolveOptions,
  type Target,
} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';
import {
  CONTAINER_FILTERS,
  checkNotEmpty,
  containerQuery,
  isFiltered,
  longPodFlag,
  type ContainerFilterValues,
} from './filter-flags.js';

const {pod, name, image, label} = CONTAINER_FILTERS;

/** The flags by which commands such as `stop` choose containers beside names; crictl has none of them there. */
export const CHOICE_FLAGS = {pod, name, image, label};

/** The same where `-p` means something else, as in `logs`. */
export const LONG_CHOICE_FLAGS = {...CHOICE_FLAGS, pod: longPodFlag};

/** What a command line says about which containers are meant. */
export interface Choice {
  /** Words that name containers. */
  readonly refs: readonly string[];
  /** What filter flags say; undefined when none is given. */
  readonly query: ContainerQuery | undefined;
}

/** Which containers filters let through when they don't name a state. */
export interface ChoiceOptions {
  readonly states: 'running' | 'all';
}

/**
 * What words and filter flags say, checked before anything is asked. Throws UsageError, also for a filter that is
 * empty: everything would be acted on where a script's variable is not set.
 */
export function choiceOf(
  refs: readonly string[] | undefined,
  flags: ContainerFilterValues,
  {states}: ChoiceOptions,
): Choice {
  checkNotEmpty(flags);
  const all = states === 'all' || flags.all === true;
  return {refs: refs ?? [], query: isFiltered(flags) ? containerQuery({...flags, all}) : undefined};
}

/**
 * The containers that a command is to act on, as targets for `forEachTarget`:
 *
 * - words alone: an id, the beginning of one, a name, `pod/name`, `namespace/pod/name`, or an image that one
 *   container runs; what is not there is a target of kind `missing`;
 * - filters alone: every container that they let through, its `ref` being its id; NoSuchError when there is none;
 * - both: what the words name among those that the filters let through;
 * - neither: nothing, and it is the command's to say what it misses.
 *
 * Throws AmbiguousError, before anything is done to any container, when a word or `--pod` fits several.
 */
export async function chooseContainers(
  services: Pick<Connection, 'runtime' | 'images'>,
  {refs, query}: Choice,
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {runtime, images} = services;
  const resolving = {images, ...options};
  if (query === undefined) return refs.length === 0 ? [] : await resolveContainers(runtime, refs, resolving);
  const chosen = await withContext('listing containers', listChosen(services, query, options.signal));
  if (refs.length > 0) return await resolveAmong(runtime, refs, chosen, resolving);
  if (chosen.length === 0) throw nothingFound('kcri ps -a');
  return chosen.map(({id}) => ({kind: 'found', ref: id, id}));
}

/** Unlike in a list, a pod that fits the name only by chance must not be acted on. */
async function listChosen(
  services: Pick<Connection, 'runtime' | 'images'>,
  query: ContainerQuery,
  signal: AbortSignal,
) {
  if (query.pod === undefined) return await listContainers(services, query, signal);
  const sandboxes = new Set<string>(await resolvePod(services.runtime, query.pod, signal));
  return await listContainers(services, {...query, pod: undefined, sandboxes}, signal);
}
