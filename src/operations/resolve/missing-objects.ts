import {containerId, podSandboxId} from '../../cri/ids.js';
import type {Container, ContainerId, PodSandbox, PodSandboxId, RuntimeService} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {idFilter} from '../filters/list-filters.js';
import {createPodLookup} from '../pods/pod-labels.js';
import {
  createContainerKind,
  createFinder,
  SANDBOX_KIND,
  unknownNameError,
  type ObjectKind,
} from './find-by-name.js';
import type {ResolveOptions} from './resolve-options.js';
import {NotFoundError, type Target} from './target.js';

/** Context of references that match nothing. */
export type MissingOptions = Pick<ResolveOptions, 'signal' | 'command'>;

/** Commands and their counterparts for the other kind of object. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  inspectp: 'inspect',
  rm: 'rmp',
  rmp: 'rm',
  stats: 'statsp',
  statsp: 'stats',
  stop: 'stopp',
  stopp: 'stop',
};

/** Objects among which references to containers matched nothing. */
export interface ContainerCandidates {
  readonly containers: readonly Container[];
  readonly kind: ObjectKind<Container>;
  readonly sandboxes: readonly PodSandbox[];
  /** True if pods are accepted too, so that their names are suggested. */
  readonly acceptsPods: boolean;
}

/** Returns the errors for references to containers that match none: they are those of pods, or unknown. */
export function explainMissingContainers(
  refs: readonly string[],
  {containers, kind, sandboxes, acceptsPods}: ContainerCandidates,
  command: string | undefined,
): readonly Target<ContainerId>[] {
  const find = createFinder(sandboxes, SANDBOX_KIND, true);
  const names = [
    ...containers.flatMap((container) => kind.names(container)),
    ...(acceptsPods ? sandboxes.flatMap((sandbox) => SANDBOX_KIND.names(sandbox)) : []),
  ];
  return refs.map((ref) => ({
    kind: 'missing',
    ref,
    error: find(ref).length > 0 ? isPodError(ref, command) : unknownNameError(ref, kind, names),
  }));
}

function isPodError(ref: string, command: string | undefined): NotFoundError {
  const counterpart = counterpartHint(command, 'pods');
  return new NotFoundError(`"${ref}" is a pod, not a container`, {
    hint: counterpart ?? `run "kcri ps -a --pod=${ref}" to list its containers`,
  });
}

/** Returns the errors for references to pods that match none of the sandboxes: they are those of containers, or unknown. */
export async function explainMissingSandboxes(
  runtime: RuntimeService,
  refs: readonly string[],
  sandboxes: readonly PodSandbox[],
  {signal, command}: MissingOptions,
): Promise<readonly Target<PodSandboxId>[]> {
  const containers = refs.every((ref) => ref === '')
    ? []
    : await listAllContainers(runtime, idFilter(refs, containerId), signal);
  const podOf = await createPodLookup(runtime, containers, signal);
  const find = createFinder(containers, createContainerKind(podOf), true);
  const names = sandboxes.flatMap((sandbox) => SANDBOX_KIND.names(sandbox));
  return refs.map((ref) => {
    const pods = new Set(find(ref).map((container) => podTitle(podOf(container), container)));
    const error = pods.size > 0 ? isContainerError(ref, [...pods], command) : undefined;
    return {kind: 'missing', ref, error: error ?? unknownNameError(ref, SANDBOX_KIND, names)};
  });
}

function podTitle(pod: {namespace: string; name: string} | undefined, {podSandboxId}: Container): string {
  return pod === undefined ? podSandboxId : `${pod.namespace}/${pod.name}`;
}

function isContainerError(ref: string, pods: readonly string[], command: string | undefined): NotFoundError {
  const ownPods = pods.map((pod) => `"${pod}"`).join(', ');
  const hint = `use ${pods.length === 1 ? 'its pod' : 'one of the pods'} ${ownPods}`;
  return new NotFoundError(`"${ref}" is a container, not a pod`, {
    hint: counterpartHint(command, 'containers') ?? hint,
  });
}

function counterpartHint(command: string | undefined, noun: string): string | undefined {
  const counterpart = command === undefined ? undefined : COUNTERPARTS[command];
  return counterpart === undefined ? undefined : `use "kcri ${counterpart}" for ${noun}`;
}

/** Returns the error for the full ID of a pod where a container is required; undefined if it is not that of a pod. */
export async function podInsteadOfContainer(
  runtime: RuntimeService,
  id: string,
  {signal, command}: MissingOptions,
): Promise<NotFoundError | undefined> {
  const sandboxes = await listAllSandboxes(runtime, idFilter([id], podSandboxId), signal);
  return sandboxes.some((sandbox) => sandbox.id === id) ? isPodError(id, command) : undefined;
}

/** Returns the error for the full ID of a container where a pod is required; undefined if it is not a container's. */
export async function containerInsteadOfPod(
  runtime: RuntimeService,
  id: string,
  {signal, command}: MissingOptions,
): Promise<NotFoundError | undefined> {
  const containers = await listAllContainers(runtime, idFilter([id], containerId), signal);
  const container = containers.find((each) => each.id === id);
  if (container === undefined) return undefined;
  const podOf = await createPodLookup(runtime, [container], signal);
  return isContainerError(id, [podTitle(podOf(container), container)], command);
}
