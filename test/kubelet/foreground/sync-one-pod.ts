import type {Pod} from '../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../src/base/clock.js';
import type {RuntimeService} from '../../../src/cri/index.js';
import type {ForegroundSyncResult} from '../../../src/kubelet/foreground/foreground-sync-result.js';
import {syncPods, type SyncPodsOptions} from '../../../src/kubelet/foreground/sync-pods.js';
import type {PodRegistry} from '../../../src/kubelet/pods/registry/pod-registry.js';

/** A PodRegistry and the runtime of its pods. */
export interface SyncTestbed {
  readonly pods: PodRegistry;
  readonly connection: {readonly runtime: RuntimeService};
}

/** Syncs one pod until it is ready, unless the options have another wait condition. */
export async function syncOnePod(
  {pods, connection: {runtime}}: SyncTestbed,
  pod: Pod,
  options: Partial<SyncPodsOptions> = {},
  signal = new AbortController().signal,
): Promise<ForegroundSyncResult> {
  const [result] = await syncPods(
    pods,
    [{pod, source: 'web.yaml'}],
    {
      runtime,
      wait: 'ready',
      timeoutMs: undefined,
      clock: systemClock,
      random: () => 0,
      onStatus: () => undefined,
      ...options,
    },
    signal,
  );
  if (result === undefined) throw new Error('the sync has no result');
  return result;
}
