import type {Container, RuntimeService} from '../../cri/index.js';
import {listAllSandboxes} from '../../cri/list-all.js';

/** Labels by which the kubelet links a container to its pod. */
const POD_NAME = 'io.kubernetes.pod.name';
const POD_NAMESPACE = 'io.kubernetes.pod.namespace';

/** Field mask of the labels with a container's pod. */
export const POD_LABEL_MASK = {[POD_NAME]: true, [POD_NAMESPACE]: true} as const;

interface Labeled {
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the name of a container's pod from its labels, undefined without one. */
export function podNameOf({labels}: Labeled): string | undefined {
  return labels[POD_NAME];
}

/** Returns the namespace of a container's pod from its labels, undefined without one. */
export function podNamespaceOf({labels}: Labeled): string | undefined {
  return labels[POD_NAMESPACE];
}

/** Name and namespace of a pod. */
export interface PodName {
  readonly name: string;
  readonly namespace: string;
}

/** Returns the labels that name a pod. */
export function labelsOfPod({name, namespace}: PodName): Readonly<Record<string, string>> {
  return {[POD_NAME]: name, [POD_NAMESPACE]: namespace};
}

/** Returns the pod of a container, undefined if unknown. */
export type PodLookup = (container: Container) => PodName | undefined;

/** Returns the pod from the kubelet's labels. */
export const podFromLabels = (container: Labeled): PodName | undefined => {
  const name = podNameOf(container);
  const namespace = podNamespaceOf(container);
  return name === undefined || namespace === undefined ? undefined : {name, namespace};
};

/**
 * Returns a lookup that uses the containers' labels and, if some have none (created without a kubelet), their
 * sandboxes. Calls ListPodSandbox only in that case.
 */
export async function createPodLookup(
  runtime: RuntimeService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<PodLookup> {
  if (containers.every((container) => podFromLabels(container) !== undefined)) return podFromLabels;
  const sandboxes = await listAllSandboxes(runtime, {}, signal);
  const byId = new Map(sandboxes.map(({id, metadata}) => [id, metadata]));
  return (container) => podFromLabels(container) ?? byId.get(container.podSandboxId);
}
