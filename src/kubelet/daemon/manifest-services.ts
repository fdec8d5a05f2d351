import type {ApiObject} from '../../api/types/v1-objects.js';
import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import {withClusterObjects, type ApiObjects} from '../contract/api-objects.js';
import type {NodeFacts} from '../contract/node-facts.js';
import {namespacedName} from '../contract/pod-ref.js';
import type {PodUpdate} from '../contract/pod-update.js';
import {LocalServices, withLocalServices} from '../managers/network/local-services.js';
import {withVolumeAffinity} from '../pods/node-fit/volume-node-affinity.js';
import {HostsUpdater} from '../pods/registry/hosts-updater.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import type {SyncObserver} from '../pods/workers/managed-pod-sync-handler.js';

/** Options of {@link ManifestServices}. */
export interface ManifestServicesOptions {
  readonly node: Pick<NodeFacts, 'clusterDomain' | 'labels' | 'nodeName'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Services of the manifests of a kubelet without a cluster, and the pods that they select. */
export class ManifestServices {
  readonly #options: ManifestServicesOptions;
  readonly #local: LocalServices;

  constructor(options: ManifestServicesOptions) {
    const {node, clock} = options;
    this.#options = options;
    this.#local = new LocalServices({services: [], clusterDomain: node.clusterDomain, clock});
  }

  /** Returns the objects of manifests with the Services, or with the objects of a cluster if there is one. */
  bind(objects: ApiObjects, cluster: ApiObjects | undefined): ApiObjects {
    const manifests = withVolumeAffinity(objects, this.#options.node);
    return cluster === undefined
      ? withLocalServices(manifests, this.#local)
      : withClusterObjects(manifests, cluster);
  }

  /** Replaces the Services by those of the objects. */
  setObjects(objects: readonly ApiObject[]): void {
    const services = objects.flatMap((object) => (object.kind === 'Service' ? [object] : []));
    this.#local.setServices(services);
  }

  /** Adds and removes desired pods. */
  updatePods({op, pods}: PodUpdate): void {
    for (const {uid, pod} of pods) {
      if (op === 'ADD') this.#local.add(pod, {isAwaited: true});
      if (op === 'REMOVE') this.#local.remove(uid);
    }
  }

  /** Observer of the statuses of pods. */
  readonly observer: SyncObserver = {
    onStatus: (pod, status) => {
      this.#local.update(pod, status);
    },
    onSynced: () => undefined,
  };

  /** Keeps the hosts files of the pods up to date until the result is disposed. */
  start(registry: PodRegistry): AsyncDisposable {
    const logger = this.#options.logger.forFile('manifest-services.ts');
    return new HostsUpdater({
      ...{registry, services: this.#local},
      onError: (pod, error) => {
        const fields = {pod: namespacedName(pod), podUID: pod.uid};
        logger.error(error, 'Failed to update the hosts file of a pod', fields);
      },
    });
  }
}
