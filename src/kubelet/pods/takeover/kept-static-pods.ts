import type {Pod} from '../../../api/types/v1-pod.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import type {FieldChange} from '../../sources/field-changes.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {namespacedName, podFullName, podRef} from '../../contract/pod-ref.js';
import {diffRunningConfigs} from '../../managers/kuberuntime/diff-running-configs.js';
import {readRunningConfigs, type RunningConfigs} from '../../managers/kuberuntime/running-config.js';
import {isStaticPod, withStaticPodUid} from '../../sources/static-pod.js';
import {computeManifestChanges} from '../../sources/manifest-changes.js';
import type {PodRecord} from '../registry/pod-store.js';
import {lacksSpec} from '../registry/reconstruct-record.js';

/** Dependencies of KeptStaticPods. */
export interface KeptStaticPodsOptions {
  readonly runtime: KubeRuntimeService;
  readonly node: NodeFacts;
  readonly logger: Logger;
}

/**
 * A static pod on the node, as it is known: by the manifest of its record or, if another kubelet has left it, by its configs. Only by
 * its UID if a manifest has that, which the source has yet to deliver.
 */
type KnownPod = {readonly uid: PodUid} & (
  | {readonly pod: Pod}
  | {readonly running: RunningConfigs}
  | {readonly isOfManifest: true}
);

/**
 * Static pods that run with another UID than that of their manifest. The UID depends on the version of the kubelet, on its time zone
 * and on the path of the manifest, so another kubelet may have left the same pod with another one. Such a pod is kept as long
 * as its manifest does not change.
 */
export class KeptStaticPods {
  readonly #options: KeptStaticPodsOptions;
  readonly #logger: FileLogger;
  /** Static pods on the node, by full name and UID. */
  readonly #known = new Map<string, Map<PodUid, KnownPod>>();
  /** Pairs of UIDs that were logged. */
  readonly #logged = new Set<string>();

  constructor(options: KeptStaticPodsOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('kept-static-pods.ts');
  }

  /**
   * Remembers the static pods among the records, which must be those of the start. Reads the configs only of those whose UID is
   * not among `readManifestUids`, which is called at most once. Rejects with CriError.
   */
  async load(
    records: readonly PodRecord[],
    readManifestUids: () => Promise<ReadonlySet<PodUid>>,
    signal: AbortSignal,
  ): Promise<void> {
    const {runtime} = this.#options;
    let ofManifests: ReadonlySet<PodUid> | undefined;
    for (const record of records) {
      const {uid, pod} = record;
      if (!isStaticPod(pod)) continue;
      let known: KnownPod = {uid, pod};
      if (lacksSpec(record)) {
        ofManifests ??= await readManifestUids();
        known = ofManifests.has(uid)
          ? {uid, isOfManifest: true}
          : {uid, running: await readRunningConfigs(runtime, podRef(pod), signal)};
      }
      const name = podFullName(record);
      const pods = this.#known.get(name) ?? new Map<PodUid, KnownPod>();
      this.#known.set(name, pods.set(uid, known));
    }
  }

  /**
   * Returns a static pod whose UID was computed from its manifest with the UID with which it runs, if another pod of its name runs and
   * has the same containers; the pod itself otherwise.
   */
  withRunningUid(pod: Pod, objects: ApiObjects): Pod {
    const known = this.#known.get(podFullName(podRef(pod)));
    const {uid} = podRef(pod);
    if (known === undefined) return pod;
    if (known.has(uid)) {
      // From now on, another manifest is compared with this one.
      known.set(uid, {uid, pod});
      return pod;
    }
    for (const other of known.values()) {
      const kept = withStaticPodUid(pod, other.uid);
      const changed = this.#changedFields(kept, other, objects);
      this.#log(pod, other, changed);
      if (changed.length === 0) return kept;
    }
    return pod;
  }

  #changedFields(pod: Pod, known: KnownPod, objects: ApiObjects): readonly string[] {
    if ('pod' in known) return pathsOf(computeManifestChanges(known.pod, pod));
    if ('isOfManifest' in known) return ['metadata.uid'];
    const diffs = diffRunningConfigs(pod, known.running, {node: this.#options.node, objects});
    return diffs.flatMap(({target, changes}) => pathsOf(changes).map((path) => `${target}: ${path}`));
  }

  /** Logs the decision once. That a manifest has changed is news only for a pod of another kubelet. */
  #log(pod: Pod, {uid, ...known}: KnownPod, changed: readonly string[]): void {
    if (changed.length > 0 && 'pod' in known) return;
    const ref = podRef(pod);
    const key = [ref.uid, uid, ...changed].join(' ');
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    const fields = {pod: namespacedName(ref), podUID: uid, manifestUID: ref.uid};
    if (changed.length === 0)
      this.#logger.info('Keeping static pod that runs with another UID than that of its manifest', fields);
    else
      this.#logger.info('Replacing static pod of another kubelet, its manifest has changed', {
        ...fields,
        changed,
      });
  }
}

function pathsOf(changes: readonly FieldChange[]): readonly string[] {
  return changes.map(({path}) => path);
}
