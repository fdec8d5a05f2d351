import type {Container, RuntimeService} from '../cri/index.js';
import {listAllSandboxes} from '../cri/list-all.js';

/** The labels by which the kubelet ties a container to its pod. */
const POD_NAME = 'io.kubernetes.pod.name';
const POD_NAMESPACE = 'io.kubernetes.pod.namespace';

/** What of a container's labels tells its pod. */
export const POD_LABELS = {[POD_NAME]: true, [POD_NAMESPACE]: true} as const;

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** The name of the pod that a container belongs to, as far as its labels say. */
export function podNameOf({labels}: Labelled): string | undefined {
  return labels[POD_NAME];
}

/** The namespace of the pod that a container belongs to, as far as its labels say. */
export function podNamespaceOf({labels}: Labelled): string | undefined {
  return labels[POD_NAMESPACE];
}

/** What a pod is called. */
export interface PodName {
  readonly name: string;
  readonly namespace: string;
}

/** Tells which pod a container belongs to, as far as it is known. */
export type PodOf = (container: Container) => PodName | undefined;

/** The pod as the kubelet's labels name it. */
export const labelledPodOf: PodOf = (container) => {
  const name = podNameOf(container);
  const namespace = podNamespaceOf(container);
  return name === undefined || namespace === undefined ? undefined : {name, namespace};
};

/**
 * The pods of containers, from their labels and, when some have none (made without a kubelet), from their
 * sandboxes: one ListPodSandbox then, else no call.
 */
export async function podsOf(
  runtime: RuntimeService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<PodOf> {
  if (containers.every((container) => labelledPodOf(container) !== undefined)) return labelledPodOf;
  const sandboxes = await listAllSandboxes(runtime, {}, signal);
  const byId = new Map(sandboxes.map(({id, metadata}) => [id, metadata]));
  return (container) => labelledPodOf(container) ?? byId.get(container.podSandboxId);
}
