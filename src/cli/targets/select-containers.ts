import type {Connection, ContainerId} from '../../cri/index.js';
import {listContainers, type ContainerQuery} from '../../operations/containers/list-containers.js';
import {
  nothingFoundError,
  resolveContainersAmong,
  resolveContainers,
  resolvePod,
  type ResolveOptions,
  type Target,
} from '../../operations/resolve/resolve-names.js';
import {withContext} from '../../operations/with-context.js';
import {
  CONTAINER_FILTERS,
  containerQuery,
  isFiltered,
  LONG_POD_FLAG,
  type ContainerFilterValues,
} from '../flags/filter-flags.js';
import {kcriOnlyFlags} from '../flags/flag-types.js';

const {pod, name, image, label} = CONTAINER_FILTERS;

/** Flags that select containers in addition to names, in commands such as `stop`. */
export const CONTAINER_SELECTION_FLAGS = kcriOnlyFlags({pod, name, image, label});

/** Selection flags without the letters, for commands in which `-p` has another meaning, such as `logs`. */
export const CONTAINER_SELECTION_LONG_FLAGS = kcriOnlyFlags({...CONTAINER_SELECTION_FLAGS, ...LONG_POD_FLAG});

/** Containers that a command line selects. */
export interface ContainerSelection {
  /** Words that name containers. */
  readonly refs: readonly string[];
  /** Query of the filter flags; undefined if none is given. */
  readonly query: ContainerQuery | undefined;
}

/** Default state filter of a selection. */
export interface ContainerSelectionOptions {
  readonly states: 'running' | 'all';
}

/** Parses words and filter flags before any call to the runtime. Rejects with UsageError. */
export async function parseContainerSelection(
  refs: readonly string[] | undefined,
  flags: ContainerFilterValues,
  {states}: ContainerSelectionOptions,
): Promise<ContainerSelection> {
  const all = states === 'all' || flags.all === true;
  return {refs: refs ?? [], query: isFiltered(flags) ? await containerQuery({...flags, all}) : undefined};
}

/**
 * Returns the containers that a command acts on, as targets of `forEachTarget`:
 *
 * - with words only: containers by ID, ID prefix, name, `pod/name`, `namespace/pod/name`, or an image that one
 *   container runs; a word without a match is a target of kind `missing`;
 * - with filters only: all matching containers, with the ID as `ref`; rejects with NoSuchError if none matches;
 * - with both: the named containers among the matching ones;
 * - with neither: no containers; the command reports the missing argument.
 *
 * Rejects with AmbiguousError, before the command acts on any container, if a word or `--pod` matches several.
 */
export async function selectContainers(
  services: Pick<Connection, 'runtime' | 'images'>,
  {refs, query}: ContainerSelection,
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {runtime, images} = services;
  const resolving = {images, ...options};
  if (query === undefined) return refs.length === 0 ? [] : await resolveContainers(runtime, refs, resolving);
  const chosen = await withContext('listing containers', listChosen(services, query, options.signal));
  if (refs.length > 0) return await resolveContainersAmong(runtime, refs, chosen, resolving);
  if (chosen.length === 0) throw nothingFoundError('kcri ps -a');
  return chosen.map(({id}) => ({kind: 'found', ref: id, id}));
}

/** Requires an exact match of the pod name, unlike a list, because the command acts on the containers. */
async function listChosen(
  services: Pick<Connection, 'runtime' | 'images'>,
  query: ContainerQuery,
  signal: AbortSignal,
) {
  if (query.pod === undefined) return await listContainers(services, query, signal);
  const sandboxes = new Set<string>(await resolvePod(services.runtime, query.pod, signal));
  return await listContainers(services, {...query, pod: undefined, sandboxes}, signal);
}
