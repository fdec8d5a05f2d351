import type {PodUid} from '../cri/index.js';
import type {PodPlace} from './container/node.js';
import type {KubeRuntimeService} from './container/services.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import type {PodRecord} from './pod/pod-store.js';

/** The API's default of terminationGracePeriodSeconds. */
const GRACE_PERIOD_SECONDS = 30;

/**
 * A record to end a pod by whose own record can't be read: made from what the runtime has of it. Where its logs
 * are is then a guess. Rejects with CriError.
 */
export async function salvageRecord(
  runtime: KubeRuntimeService,
  uid: PodUid,
  place: PodPlace,
): Promise<PodRecord> {
  const {sandboxes} = await readPodStatus(runtime, {uid, name: '', namespace: ''});
  const {name = uid, namespace = 'default'} = sandboxes[0]?.metadata ?? {};
  return {
    uid,
    namespace,
    name,
    source: '',
    createdAt: new Date(0).toISOString(),
    place,
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {uid, namespace, name},
      spec: {containers: [], terminationGracePeriodSeconds: GRACE_PERIOD_SECONDS},
    },
  };
}
