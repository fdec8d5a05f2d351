import type {PodUid} from '../../cri/index.js';
import type {PodEvent} from '../contract/pod-event.js';
import {podRef} from '../contract/pod-ref.js';
import type {ManagedPodSet} from '../pods/registry/managed-pod-set.js';

/**
 * Late binding of the managed pods for the parts that are created before them: pod sources, the pod registry's observer
 * and the secret registry.
 */
export class ManagedPodsBinding {
  #pods: ManagedPodSet | undefined;

  /** Sets the managed pods; before that, no pod counts as managed. */
  bind(pods: ManagedPodSet): void {
    this.#pods = pods;
  }

  isManaged(uid: PodUid): boolean {
    return this.#pods?.get(uid) !== undefined;
  }

  /** Records an event that was raised outside a sync in the pod's history. Returns false if the pod is not managed. */
  recordEvent(event: PodEvent): boolean {
    const syncer = this.#pods?.getSyncer(podRef(event.pod).uid);
    syncer?.recordEvent(event);
    return syncer !== undefined;
  }
}
