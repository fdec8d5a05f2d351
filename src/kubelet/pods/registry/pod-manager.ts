import type {PodUid} from '../../../cri/index.js';
import type {DesiredPod} from '../../contract/pod-update.js';

/** Registry of the desired pods of all sources (pod_manager.go). */
export class PodManager {
  readonly #pods = new Map<PodUid, DesiredPod>();

  set(pod: DesiredPod): void {
    this.#pods.set(pod.uid, pod);
  }

  delete(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  get(uid: PodUid): DesiredPod | undefined {
    return this.#pods.get(uid);
  }

  list(): readonly DesiredPod[] {
    return [...this.#pods.values()];
  }

  uids(): ReadonlySet<PodUid> {
    return new Set(this.#pods.keys());
  }
}
