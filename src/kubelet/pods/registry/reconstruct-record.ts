import {dirname} from 'node:path';
import type {PodUid} from '../../../cri/index.js';
import type {PodLocation} from '../../contract/node-facts.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {restoreGracePeriodSeconds} from '../../managers/kuberuntime/restore-container-spec.js';
import {readRuntimePodStatus} from '../../managers/kuberuntime/read-runtime-pod-status.js';
import type {PodRef} from '../../contract/pod-ref.js';
import {CONFIG_SOURCE_ANNOTATION} from '../../sources/static-pod.js';
import type {PodRecord} from './pod-store.js';

/** Default of terminationGracePeriodSeconds in the API. */
const GRACE_PERIOD_SECONDS = 30;

/**
 * Resolves with a record that suffices to terminate a pod whose own record is unreadable. Reads the data from the
 * runtime; the location defaults to `place`. Rejects with CriError.
 */
export async function reconstructRecord(
  runtime: KubeRuntimeService,
  uid: PodUid,
  place: PodLocation,
): Promise<Omit<PodRecord, 'endpoint'>> {
  const {sandboxes, containers} = await readRuntimePodStatus(runtime, {uid, name: '', namespace: ''});
  const {name = uid, namespace = 'default'} = sandboxes[0]?.metadata ?? {};
  const grace = containers.map(restoreGracePeriodSeconds).find((seconds) => seconds !== undefined);
  const log = containers.find(({cri}) => cri.logPath !== '')?.cri.logPath;
  const located = log === undefined ? place : {...place, podLogsDir: dirname(dirname(dirname(log)))};
  return recordWithoutSpec({uid, namespace, name}, {place: located, gracePeriodSeconds: grace});
}

/** Facts about a pod whose spec is unknown. */
interface KnownFacts {
  readonly place: PodLocation;
  /** In ms since the epoch; 0 by default. */
  readonly createdAt?: number;
  readonly gracePeriodSeconds?: number | undefined;
  /** See configSourceOf. */
  readonly configSource?: string | undefined;
}

/** Returns a record of a pod whose spec is unknown: it has no containers. */
export function recordWithoutSpec(
  {uid, namespace, name}: PodRef,
  {place, createdAt = 0, gracePeriodSeconds = GRACE_PERIOD_SECONDS, configSource}: KnownFacts,
): Omit<PodRecord, 'endpoint'> {
  const annotations = configSource !== undefined && {[CONFIG_SOURCE_ANNOTATION]: configSource};
  return {
    uid,
    namespace,
    name,
    source: '',
    createdAt: new Date(createdAt).toISOString(),
    place,
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {uid, namespace, name, ...(annotations && {annotations})},
      spec: {containers: [], terminationGracePeriodSeconds: gracePeriodSeconds},
    },
  };
}

/** Reports whether the record does not have the pod's spec. */
export function lacksSpec({pod}: Pick<PodRecord, 'pod'>): boolean {
  return pod.spec.containers.length === 0;
}
