import {dirname} from 'node:path';
import type {PodUid} from '../cri/index.js';
import type {PodPlace} from './container/node.js';
import type {KubeRuntimeService} from './container/services.js';
import {restoredGracePeriod} from './kuberuntime/restored-container.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import type {PodRecord} from './pod/pod-store.js';

/** The API's default of terminationGracePeriodSeconds. */
const GRACE_PERIOD_SECONDS = 30;

/**
 * A record to end a pod by whose own record can't be read: made from what the runtime has of it; what is not
 * known is taken from `place`. Rejects with CriError.
 */
export async function salvageRecord(
  runtime: KubeRuntimeService,
  uid: PodUid,
  place: PodPlace,
): Promise<Omit<PodRecord, 'endpoint'>> {
  const {sandboxes, containers} = await readPodStatus(runtime, {uid, name: '', namespace: ''});
  const {name = uid, namespace = 'default'} = sandboxes[0]?.metadata ?? {};
  const grace = containers.map(restoredGracePeriod).find((seconds) => seconds !== undefined);
  const log = containers.find(({cri}) => cri.logPath !== '')?.cri.logPath;
  return {
    uid,
    namespace,
    name,
    source: '',
    createdAt: new Date(0).toISOString(),
    place: log === undefined ? place : {...place, podLogsDir: dirname(dirname(dirname(log)))},
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {uid, namespace, name},
      spec: {containers: [], terminationGracePeriodSeconds: grace ?? GRACE_PERIOD_SECONDS},
    },
  };
}
