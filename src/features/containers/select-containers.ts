import * as Flags from '@oclif/core/flags';
import {EmptyValueError, UsageError} from '../../base/errors.js';
import type {Connection, ContainerId} from '../../cri/index.js';
import {resolveContainers} from '../../operations/resolve/resolve-names.js';
import type {ContainerChooser, ResolveOptions} from '../../operations/resolve/resolve-options.js';
import type {Target} from '../../operations/resolve/target.js';
import type {DialectContext, ResolvingContext, RuntimeContext} from '../../cli/command/contexts.js';
import {
  CONTAINER_FILTERS,
  containerQuery,
  filterText,
  isFiltered,
  LONG_POD_FLAG,
  type ContainerFilterValues,
} from './filter-flags.js';
import {kcriOnlyFlags, nonEmptyFlags} from '../../cli/flags/flag-types.js';
import type {ContainerChoice, NamedPod} from '../targets/choose-pod-container.js';
import type {ContainerSelection} from './select-from-lists.js';

export type {ContainerSelection} from './select-from-lists.js';

const {pod, name, image, label} = CONTAINER_FILTERS;

/** Flags that select containers in addition to names, in commands such as `stop`. */
export const CONTAINER_SELECTION_FLAGS = kcriOnlyFlags({pod, name, image, label});

/** Selection flags without the letters, for commands in which `-p` has another meaning, such as `logs`. */
export const CONTAINER_SELECTION_LONG_FLAGS = kcriOnlyFlags({...CONTAINER_SELECTION_FLAGS, ...LONG_POD_FLAG});

const SELECTOR = {
  helpValue: 'SELECTOR',
  description: 'Select the pods that match a label selector, such as app=web,tier!=db.',
};

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

/** Flag that selects pods by their labels; without its letter, for commands in which `-l` is crictl's `--latest`. */
export const LONG_SELECTOR_FLAG = kcriOnlyFlags({selector: Flags.string(SELECTOR)});

/** Flag that selects pods by their labels, as in kubectl. */
export const SELECTOR_FLAG = kcriOnlyFlags({selector: Flags.string({...SELECTOR, char: 'l'})});

/** Returns a function that chooses a container of a named pod, as kubectl does. */
function createContainerChooser(services: RuntimeContext, choice: ContainerChoice): ContainerChooser {
  return async (ref, id, {quiet} = {quiet: false}) => {
    const {choosePodContainer} = await import('../targets/choose-pod-container.js');
    return await choosePodContainer(services, {ref, id}, quiet ? {...choice, quiet} : choice);
  };
}

/** Default state filter of a selection. */
export interface ContainerSelectionOptions {
  readonly states: 'running' | 'all';
}

/** Values of the selection flags; `--pod` can be repeated in some commands. */
interface SelectionFilterValues extends Omit<ContainerFilterValues, 'pod'> {
  readonly pod?: string | readonly string[] | undefined;
  readonly selector?: string | undefined;
}

/** Parses words and filter flags before any call to the runtime. Rejects with UsageError. */
export async function parseContainerSelection(
  refs: readonly string[] | undefined,
  flags: SelectionFilterValues & ContainerChoice,
  {states}: ContainerSelectionOptions,
): Promise<ContainerSelection> {
  const all = states === 'all' || flags.all === true;
  const byPod = flags.container !== undefined;
  const {pod, selector, ...filters} = flags;
  const pods = [pod ?? []].flat().filter((name) => name !== '');
  const filtered = pod !== undefined || isFiltered(filters);
  if (byPod && filtered)
    throw new UsageError('--container cannot be combined with filters', {
      hint: 'name the pod, as in "POD --container NAME", or use --pod and --name',
    });
  if (selector !== undefined) checkSelector(selector, {refs, filtered});
  return {
    selector,
    refs: refs ?? [],
    query: filtered ? await containerQuery({...filters, all}) : undefined,
    filters: filterText(flags),
    pods,
    byPod,
  };
}

/** Throws UsageError for an empty selector, and for one beside names or filters of containers. */
function checkSelector(
  selector: string,
  {refs = [], filtered}: {readonly refs: readonly string[] | undefined; readonly filtered: boolean},
): void {
  // An empty selector matches all pods: probably a variable that is not set.
  if (selector.trim() === '') throw new EmptyValueError('--selector');
  if (refs.length > 0)
    throw new UsageError(`cannot use "${refs[0] ?? ''}" together with --selector`, {
      hint: 'specify either names or --selector',
    });
  if (filtered) throw new UsageError('--selector cannot be combined with filters of containers');
}

/**
 * Returns the containers that a command acts on, as selectContainers does; words may also name pods and, as in kubectl,
 * workloads: of `deployment/web` one pod is chosen. Of each pod one container is chosen, as of all pods that match the
 * label selector.
 */
export async function choosePodContainers(
  services: RuntimeContext & DialectContext & ResolvingContext,
  connection: Pick<Connection, 'runtime' | 'images'>,
  selection: ContainerSelection,
  {verify = false, ...choice}: ContainerChoice & Pick<ResolveOptions, 'verify'>,
): Promise<readonly Target<ContainerId>[]> {
  const {selector, refs, query} = selection;
  const chooseContainer = createContainerChooser(services, choice);
  if (selector !== undefined) {
    const {selectPods} = await import('../targets/choose-pods.js');
    const pods = await selectPods(services, selector);
    const chooseSilently = createContainerChooser(services, {...choice, quiet: true});
    return await Promise.all(pods.map(async ({ref, id}) => await chooseSilently(ref, id)));
  }
  const ofWorkloads = await findWorkloads(services, query === undefined ? refs : [], choice);
  const rest = refs.filter((ref) => !ofWorkloads.has(ref));
  const options = services.resolving({chooseContainer, verify});
  if (ofWorkloads.size === 0)
    return await Promise.all((await selectContainers(connection, selection, options)).map(explainMissing));
  const others = await selectContainers(connection, {...selection, refs: rest}, options);
  const byRef = new Map(rest.map((ref, index) => [ref, others[index]]));
  const targets = await Promise.all(
    refs.map(async (ref) => {
      const pod = ofWorkloads.get(ref);
      return pod === undefined ? byRef.get(ref) : await chooseContainer(pod.ref, pod.id);
    }),
  );
  return targets.filter((target) => target !== undefined);
}

/** Replaces the error of a word that names a workload: it has no pods here. */
export async function explainMissing<Id>(target: Target<Id>): Promise<Target<Id>> {
  if (target.kind === 'found' || !target.ref.includes('/')) return target;
  const {workloadWithoutPodsError} = await import('../pods/workload-pods.js');
  return {...target, error: workloadWithoutPodsError(target.ref) ?? target.error};
}

/** Returns a pod of each workload that a word names; the code for them is only loaded for such words. */
export async function findWorkloads(
  services: RuntimeContext & DialectContext,
  refs: readonly string[],
  {quiet = false}: ContainerChoice,
): Promise<ReadonlyMap<string, NamedPod>> {
  const candidates = services.dialect.takesOnlyIds ? [] : refs.filter((ref) => ref.includes('/'));
  if (candidates.length === 0) return new Map();
  const {parseWorkload} = await import('../../api/workloads/workload-of-pod.js');
  const words = candidates.filter((ref) => parseWorkload(ref) !== undefined);
  if (words.length === 0) return new Map();
  const {chooseWorkloadPods} = await import('../targets/choose-pods.js');
  return await chooseWorkloadPods(services, words, {quiet});
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
  selection: ContainerSelection,
  options: ResolveOptions,
): Promise<readonly Target<ContainerId>[]> {
  const {refs, query, byPod} = selection;
  if (query === undefined && !byPod)
    return refs.length === 0
      ? []
      : await resolveContainers(services.runtime, refs, {images: services.images, ...options});
  const {selectFromLists} = await import('./select-from-lists.js');
  return await selectFromLists(services, selection, options);
}
