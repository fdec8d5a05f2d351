import * as Flags from '@oclif/core/flags';
import {UsageError} from '../../base/errors.js';
import type {Connection, ContainerId, RuntimeService} from '../../cri/index.js';
import {listContainers, type ContainerQuery} from '../../operations/containers/list-containers.js';
import {
  nothingFoundError,
  resolveContainersAmong,
  resolveContainers,
  resolvePod,
  resolveSandboxes,
  type ContainerChooser,
  type ResolveOptions,
  type Target,
} from '../../operations/resolve/resolve-names.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandServices} from '../command/command-services.js';
import {
  CONTAINER_FILTERS,
  containerQuery,
  filterText,
  isFiltered,
  LONG_POD_FLAG,
  type ContainerFilterValues,
} from '../flags/filter-flags.js';
import {kcriOnlyFlags, nonEmptyFlags} from '../flags/flag-types.js';
import type {ContainerChoice} from './choose-pod-container.js';

const {pod, name, image, label} = CONTAINER_FILTERS;

/** Flags that select containers in addition to names, in commands such as `stop`. */
export const CONTAINER_SELECTION_FLAGS = kcriOnlyFlags({pod, name, image, label});

/** Selection flags without the letters, for commands in which `-p` has another meaning, such as `logs`. */
export const CONTAINER_SELECTION_LONG_FLAGS = kcriOnlyFlags({...CONTAINER_SELECTION_FLAGS, ...LONG_POD_FLAG});

/** Flag that names a container of a pod. */
export const POD_CONTAINER_FLAG = kcriOnlyFlags(
  nonEmptyFlags({
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      description: "Container of the named pod. [default: the annotated one, or the pod's first]",
    }),
  }),
);

/** Returns a function that chooses a container of a named pod, as kubectl does. */
export function createContainerChooser(services: CommandServices, choice: ContainerChoice): ContainerChooser {
  return async (ref, id, {quiet} = {quiet: false}) => {
    const {choosePodContainer} = await import('./choose-pod-container.js');
    return await choosePodContainer(services, {ref, id}, quiet ? {...choice, quiet} : choice);
  };
}

/** Containers that a command line selects. */
export interface ContainerSelection {
  /** Words that name containers. */
  readonly refs: readonly string[];
  /** Query of the filter flags; undefined if none is given. */
  readonly query: ContainerQuery | undefined;
  /** Filter flags as on the command line. */
  readonly filters?: string;
  /** Names of the pods to which the query is limited; empty for all. */
  readonly pods?: readonly string[];
  /** True if the words name pods, from each of which one container is chosen. */
  readonly byPod: boolean;
}

/** Default state filter of a selection. */
export interface ContainerSelectionOptions {
  readonly states: 'running' | 'all';
}

/** Values of the selection flags; `--pod` can be repeated in some commands. */
interface SelectionFilterValues extends Omit<ContainerFilterValues, 'pod'> {
  readonly pod?: string | readonly string[] | undefined;
}

/** Parses words and filter flags before any call to the runtime. Rejects with UsageError. */
export async function parseContainerSelection(
  refs: readonly string[] | undefined,
  flags: SelectionFilterValues & ContainerChoice,
  {states}: ContainerSelectionOptions,
): Promise<ContainerSelection> {
  const all = states === 'all' || flags.all === true;
  const byPod = flags.container !== undefined;
  const {pod, ...filters} = flags;
  const pods = [pod ?? []].flat().filter((name) => name !== '');
  const filtered = pod !== undefined || isFiltered(filters);
  if (byPod && filtered)
    throw new UsageError('--container cannot be combined with filters', {
      hint: 'name the pod, as in "POD --container NAME", or use --pod and --name',
    });
  return {
    refs: refs ?? [],
    query: filtered ? await containerQuery({...filters, all}) : undefined,
    filters: filterText(flags),
    pods,
    byPod,
  };
}

/**
 * Returns the containers that a command acts on, as targets of `forEachTarget`:
 *
 * - with words only: containers by ID, ID prefix, name, `pod/name`, `namespace/pod/name`, or an image that one
 *   container runs, or by pod if `chooseContainer` is set; a word without a match is a target of kind `missing`;
 * - with filters only: all matching containers, with the ID as `ref`; rejects with NoSuchError if none matches;
 * - with both: the named containers among the matching ones;
 * - with neither: no containers; the command reports the missing argument.
 *
 * Rejects with AmbiguousError, before the command acts on any container, if a word or `--pod` matches several.
 */
export async function selectContainers(
  services: Pick<Connection, 'runtime' | 'images'>,
  {refs, query, filters = '', pods = [], byPod}: ContainerSelection,
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {runtime, images} = services;
  if (byPod) return await selectFromPods(runtime, refs, options);
  const resolving = {images, ...options};
  if (query === undefined) return refs.length === 0 ? [] : await resolveContainers(runtime, refs, resolving);
  const chosen = await withContext('listing containers', listChosen(services, {query, pods}, options.signal));
  if (refs.length > 0) return await resolveContainersAmong(runtime, refs, chosen, resolving);
  if (chosen.length === 0) throw nothingFoundError('kcri ps -a', noContainerText(query, filters));
  return chosen.map(({id}) => ({kind: 'found', ref: id, id}));
}

/** Says that no container matches; labels of pods are a frequent mistake. */
function noContainerText({state, labels}: ContainerQuery, filters: string): string {
  const noun = state === 'CONTAINER_RUNNING' ? 'running container' : 'container';
  if (filters === '') return `there are no ${noun}s`;
  const text = `no ${noun} matches ${filters}`;
  const hasLabels = Object.keys(labels ?? {}).length > 0;
  return hasLabels ? `${text}; --label matches labels of containers, not of pods` : text;
}

async function selectFromPods(
  runtime: RuntimeService,
  refs: readonly string[],
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {chooseContainer} = options;
  if (chooseContainer === undefined) throw new Error('no function to choose containers of pods');
  const pods = await resolveSandboxes(runtime, refs, {...options, verify: true});
  return await Promise.all(
    pods.map(async (pod) => (pod.kind === 'found' ? await chooseContainer(pod.ref, pod.id) : pod)),
  );
}

/** Requires an exact match of the pod name, unlike a list, because the command acts on the containers. */
async function listChosen(
  services: Pick<Connection, 'runtime' | 'images'>,
  {query, pods}: {readonly query: ContainerQuery; readonly pods: readonly string[]},
  signal: AbortSignal,
) {
  const names = [...pods, ...(query.pod === undefined ? [] : [query.pod])];
  if (names.length === 0) return await listContainers(services, query, signal);
  const found = await Promise.all(names.map(async (name) => resolvePod(services.runtime, name, signal)));
  return await listContainers(
    services,
    {...query, pod: undefined, sandboxes: new Set<string>(found.flat())},
    signal,
  );
}
