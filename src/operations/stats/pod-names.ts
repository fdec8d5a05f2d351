import type {ContainerStats, RuntimeService} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {
  createPodLookup,
  labelsOfPod,
  podFromLabels,
  POD_LABEL_MASK,
  type PodName,
} from '../pods/pod-labels.js';

/** Adds the names of pods to the stats of containers without the kubelet's labels. */
export class PodNamesOfStats {
  readonly #pods = new Map<string, PodName | undefined>();

  /** Finds the pods of containers that are not known yet, with a ListContainers and a ListPodSandbox call if there are any. */
  async load(runtime: RuntimeService, stats: readonly ContainerStats[], signal: AbortSignal): Promise<void> {
    const unknown = stats.flatMap(({attributes}) =>
      attributes === undefined || podFromLabels(attributes) !== undefined || this.#pods.has(attributes.id)
        ? []
        : attributes.id,
    );
    if (unknown.length === 0) return;
    const mask = {id: true, podSandboxId: true, labels: POD_LABEL_MASK} as const;
    const containers = await listAllContainers(runtime, {}, signal, mask);
    const podOf = await createPodLookup(runtime, containers, signal);
    for (const container of containers) this.#pods.set(container.id, podOf(container));
  }

  /** Returns stats with the labels of the container's pod, as far as known. */
  label(stats: ContainerStats): ContainerStats {
    const {attributes} = stats;
    const pod = attributes === undefined ? undefined : this.#pods.get(attributes.id);
    if (attributes === undefined || pod === undefined) return stats;
    return {...stats, attributes: {...attributes, labels: {...attributes.labels, ...labelsOfPod(pod)}}};
  }
}
