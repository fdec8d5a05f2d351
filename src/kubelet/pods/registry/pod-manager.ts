import type {PodStatus} from '../../../api/types/v1-status.js';
import type {PodUid} from '../../../cri/index.js';
import {podFullName, podRef} from '../../contract/pod-ref.js';
import type {DesiredPod} from '../../contract/pod-update.js';
import {isMirrorPod, isMirrorPodOf} from '../../sources/static-pod.js';

/**
 * Registry of the desired pods of all sources (pod_manager.go). Mirror pods are kept apart: they are found by the name that
 * they share with their static pod, and never run.
 */
export class PodManager {
  readonly #pods = new Map<PodUid, DesiredPod>();
  readonly #byName = new Map<string, DesiredPod>();
  /** Mirror pods by full name. */
  readonly #mirrors = new Map<string, DesiredPod>();
  /** Static pods by the UID of their mirror pod, which may outlive them (translationByUID). */
  readonly #mirrored = new Map<PodUid, DesiredPod>();

  set(desired: DesiredPod): void {
    const name = fullName(desired);
    if (isMirrorPod(desired.pod)) this.#mirrors.set(name, desired);
    else {
      this.#pods.set(desired.uid, desired);
      this.#byName.set(name, desired);
    }
    const [pod, mirror] = [this.#byName.get(name), this.#mirrors.get(name)];
    if (pod !== undefined && mirror !== undefined) this.#mirrored.set(mirror.uid, pod);
  }

  delete(desired: DesiredPod): void {
    const name = fullName(desired);
    if (isMirrorPod(desired.pod)) {
      deleteIf(this.#mirrors, name, desired.uid);
      this.#mirrored.delete(desired.uid);
    } else {
      this.#pods.delete(desired.uid);
      deleteIf(this.#byName, name, desired.uid);
    }
  }

  get(uid: PodUid): DesiredPod | undefined {
    return this.#pods.get(uid);
  }

  /** Returns all pods except mirror pods. */
  list(): readonly DesiredPod[] {
    return [...this.#pods.values()];
  }

  uids(): ReadonlySet<PodUid> {
    return new Set(this.#pods.keys());
  }

  /** Returns the mirror pod of a static pod, which may be in no source any more. */
  mirrorOf(uid: PodUid): DesiredPod | undefined {
    return this.mirrors().find((mirror) => this.staticPodOf(mirror.uid)?.uid === uid);
  }

  /** Returns the status that the API server has of a static pod, if the mirror pod is one of this version. */
  mirrorStatus(uid: PodUid): PodStatus | undefined {
    const desired = this.#pods.get(uid);
    if (desired === undefined) return undefined;
    const mirror = this.#mirrors.get(fullName(desired))?.pod;
    return mirror !== undefined && isMirrorPodOf(mirror, desired.pod) ? mirror.status : undefined;
  }

  mirrors(): readonly DesiredPod[] {
    return [...this.#mirrors.values()];
  }

  /** Returns the static pod that a mirror pod represents; the last one of its name if the source no longer has it. */
  staticPodOf(mirrorUid: PodUid): DesiredPod | undefined {
    return this.#mirrored.get(mirrorUid);
  }

  /** Returns the UID of the static pod if `uid` is that of a mirror pod, or else `uid` (TranslatePodUID). */
  translateUid(uid: PodUid): PodUid {
    return this.staticPodOf(uid)?.uid ?? uid;
  }
}

function fullName({pod}: DesiredPod): string {
  return podFullName(podRef(pod));
}

/** Deletes the entry of a pod, but not that of another pod of the same name. */
function deleteIf(pods: Map<string, DesiredPod>, name: string, uid: PodUid): void {
  if (pods.get(name)?.uid === uid) pods.delete(name);
}
