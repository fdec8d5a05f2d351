import type {RuntimeContainerStatus, RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../../contract/sync-result.js';

/**
 * Time for which a sandbox must outlive its killed containers, in ms: the kubelet's relist period, within which it sees
 * the containers and the sandbox of a stopped pod end together.
 */
const SETTLE_MS = 1000;

/** Exit codes of processes that SIGKILL and SIGTERM ended. */
const KILLED: ReadonlySet<number> = new Set([137, 143]);

/**
 * Returns the time from which containers may start in the pod's ready sandbox, in ms since the epoch; undefined if they
 * may start `now`. A runtime that stops a sandbox kills its containers first and reports the sandbox as ready meanwhile,
 * so a container that others killed may be the beginning of that. `ownKills` are the names of containers that kcri
 * killed. Pure.
 */
export function computeSettleTime(
  {sandboxes: [sandbox], containers}: RuntimePodStatus,
  {now, ownKills}: {readonly now: number; readonly ownKills: ReadonlySet<string>},
): number | undefined {
  if (sandbox?.state !== 'SANDBOX_READY') return undefined;
  const killedAt = containers
    .filter(({name, sandboxId}) => sandboxId === sandbox.id && !ownKills.has(name))
    .filter(wasKilled)
    .map(({cri}) => Number(cri.finishedAt / 1_000_000n));
  const last = Math.max(...killedAt);
  // After `now` means that the clock was set back.
  return last <= now && now < last + SETTLE_MS ? last + SETTLE_MS : undefined;
}

function wasKilled({state, cri}: RuntimeContainerStatus): boolean {
  return state === 'CONTAINER_EXITED' && KILLED.has(cri.exitCode) && cri.reason !== 'OOMKilled';
}

/** Returns the names of the containers that a sync killed: as an action, or after their postStart hook failed. */
export function killedContainersOf(results: readonly SyncResult[]): ReadonlySet<string> {
  return new Set(
    results
      .filter(({action, failure}) =>
        action === 'KillContainer' ? failure === undefined : failure?.reason === 'PostStartHookError',
      )
      .map(({target}) => target),
  );
}
