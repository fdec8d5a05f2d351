import type {RuntimeContainerStatus, RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncResult} from '../../../contract/sync-result.js';

/**
 * Time for which a killed container may be the beginning of the end of its sandbox, in ms: the kubelet's relist period,
 * within which it sees the containers and the sandbox of a stopped pod end together.
 */
const DOUBT_MS = 1000;

/** Maximum time until the end of another process is visible, in ms: kcri may have learned of the exit from a relist. */
const MAX_VISIBLE_MS = 50;

/** Exit codes of processes that SIGKILL and SIGTERM ended. */
const KILLED: ReadonlySet<number> = new Set([137, 143]);

/** The time, in ms since the epoch, and the names of the containers that kcri itself killed. */
export interface KillContext {
  readonly now: number;
  readonly ownKills: ReadonlySet<string>;
}

/** Doubt whether a sandbox that the runtime reports as ready stays; times are in ms since the epoch. */
export interface SandboxDoubt {
  /** Time until which the sandbox may be ending. */
  readonly end: number;
  /** Time from which the kernel shows the end of another process of the sandbox, if the runtime is stopping it. */
  readonly visibleAt: number;
}

/**
 * Returns the doubt whether the pod's ready sandbox stays; undefined if nothing suggests that it ends. A runtime that stops
 * a sandbox kills its processes one by one, those of the containers first, and reports the sandbox as ready meanwhile, so
 * a container that others killed may be the beginning of that. The runtime kills the next process in less than half the
 * time that it takes until kcri learns of the exit of the last one. Pure.
 */
export function computeSandboxDoubt(
  status: RuntimePodStatus,
  context: KillContext,
): SandboxDoubt | undefined {
  const {sandboxes, containers} = status;
  const [sandbox] = sandboxes;
  if (sandbox?.state !== 'SANDBOX_READY') return undefined;
  const killedAt = containers
    .filter((container) => container.sandboxId === sandbox.id && wasKilled(container, context))
    .map(finishedAtMs);
  if (killedAt.length === 0) return undefined;
  const last = Math.max(...killedAt);
  const {now} = context;
  return {end: last + DOUBT_MS, visibleAt: now + Math.min((now - last) / 2, MAX_VISIBLE_MS)};
}

/**
 * Returns the containers that were started in the sandbox while it was ending: those that replaced a container that
 * others had just killed, if the sandbox has ended since. A kubelet that sees all of this together starts none. Pure.
 */
export function computeVoidAttempts(
  {sandboxes: [sandbox], containers}: RuntimePodStatus,
  context: KillContext,
): readonly RuntimeContainerStatus[] {
  if (sandbox === undefined || sandbox.state === 'SANDBOX_READY') return [];
  const inSandbox = containers.filter(({sandboxId}) => sandboxId === sandbox.id);
  return inSandbox.filter(({name, restartCount}) =>
    inSandbox.some(
      (other) => other.name === name && other.restartCount === restartCount - 1 && wasKilled(other, context),
    ),
  );
}

/** Reports whether others have killed the container in the last second. */
function wasKilled(container: RuntimeContainerStatus, {now, ownKills}: KillContext): boolean {
  const {name, state, cri} = container;
  if (state !== 'CONTAINER_EXITED' || !KILLED.has(cri.exitCode) || cri.reason === 'OOMKilled') return false;
  const at = finishedAtMs(container);
  // After `now` means that the clock was set back.
  return at <= now && now < at + DOUBT_MS && !ownKills.has(name);
}

function finishedAtMs({cri}: RuntimeContainerStatus): number {
  return Number(cri.finishedAt / 1_000_000n);
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
