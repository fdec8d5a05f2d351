import {longRunningContainersOf} from '../../api/pod-containers.js';
import type {Container} from '../../cri/index.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import type {SeenPod} from '../wait/judge-readiness.js';
import {mayRestart, restartPolicyOf, statusOfContainer} from '../pods/restart-policy.js';

/** Grace period of containers whose manager is unknown, in seconds, as in docker. */
const DEFAULT_GRACE_SECONDS = 10;

/** Annotation with the grace period of a pod, on the containers of a kubelet. */
const GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';

/** How a container is restarted. */
export type RestartPlan =
  | {
      /** `managed`: its manager starts the next instance; `recreate`: kcri creates it. */
      readonly kind: 'managed' | 'recreate';
      readonly name: string;
      /** Newest instance; undefined if it has not been created. */
      readonly newest: Container | undefined;
    }
  | {readonly kind: 'refused'; readonly name: string; readonly reason: string};

/** Returns the plans for the containers of a target: itself, or all long-running ones of a pod. */
export function planRestarts(
  target: LifecycleTarget,
  seen: SeenPod,
  isManagerRunning: boolean,
): readonly RestartPlan[] {
  const names =
    target.kind === 'container' ? [target.name] : longRunningContainersOf(seen.pod).map(({name}) => name);
  return names.map((name) => planRestart(target, seen, name, isManagerRunning));
}

function planRestart(
  target: LifecycleTarget,
  seen: SeenPod,
  name: string,
  isManagerRunning: boolean,
): RestartPlan {
  const {listed} = seen;
  const newest = newestInstance(listed.inRuntime?.containers ?? [], name);
  if (target.kind === 'container' && target.isPinned && target.id !== newest?.id)
    return {kind: 'refused', name, reason: 'a newer instance has replaced it'};
  if (listed.manager === 'none') return {kind: 'recreate', name, newest};
  const reason = whyNotRestarted(seen, name);
  if (reason !== undefined) return {kind: 'refused', name, reason};
  return {kind: isManagerRunning ? 'managed' : 'recreate', name, newest};
}

/** Returns the newest instance of a container; one that a killed restart has only created does not count. */
function newestInstance(newestFirst: readonly Container[], name: string): Container | undefined {
  const own = newestFirst.filter(({metadata}) => metadata?.name === name);
  return own.find(({state}) => state !== 'CONTAINER_CREATED') ?? own[0];
}

/** Returns the reason why the manager of a container does not start it again; undefined if it does. */
function whyNotRestarted({listed, pod}: SeenPod, name: string): string | undefined {
  const policy = restartPolicyOf(pod, name, listed.manager);
  const exitCode = statusOfContainer(pod, name)?.state?.terminated?.exitCode;
  // A container that is stopped rarely exits with 0, so that OnFailure restarts it.
  if (mayRestart(policy, exitCode ?? 1)) return undefined;
  return `restartPolicy is ${policy}, so that it would not be started again`;
}

/** Returns the grace period of a container in seconds: the given one, that of its pod, or the default. */
export function gracePeriodOf(
  {pod}: SeenPod,
  newest: Container | undefined,
  given: number | undefined,
): number {
  const annotation = Number(newest?.annotations[GRACE_PERIOD] ?? Number.NaN);
  return (
    given ??
    pod.spec.terminationGracePeriodSeconds ??
    (Number.isInteger(annotation) ? annotation : DEFAULT_GRACE_SECONDS)
  );
}
