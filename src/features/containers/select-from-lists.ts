import type {Connection, ContainerId, RuntimeService} from '../../cri/index.js';
import {listContainers, type ContainerQuery} from '../../operations/containers/list-containers.js';
import {resolveContainersAmong, resolvePod} from '../../operations/resolve/resolve-by-lists.js';
import {resolveSandboxes} from '../../operations/resolve/resolve-names.js';
import type {ResolveOptions} from '../../operations/resolve/resolve-options.js';
import {nothingFoundError, type Target} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';

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
  /** Label selector of pods, from each of which one container is chosen. */
  readonly selector?: string | undefined;
}

/** Returns the containers of a selection by filters or by pods, as selectContainers does. */
export async function selectFromLists(
  services: Pick<Connection, 'runtime' | 'images'>,
  {refs, query, filters = '', pods = [], byPod}: ContainerSelection,
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {runtime, images} = services;
  if (byPod || query === undefined) return await selectFromPods(runtime, refs, options);
  const chosen = await withContext('listing containers', listChosen(services, {query, pods}, options.signal));
  if (refs.length > 0) return await resolveContainersAmong(runtime, refs, chosen, {images, ...options});
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
