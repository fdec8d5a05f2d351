import type {Pod} from '../../../api/types/v1-pod.js';
import type {ShutdownPeriod} from '../../contract/resources/shutdown-policy.js';

/** Pods that are stopped together when the node shuts down. */
export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly Pod[];
}

/**
 * Returns the pods by the period of the highest priority that is not above theirs, lowest first; those below all periods are in
 * the lowest one (groupByPriority).
 */
export function groupByPriority(
  periods: readonly ShutdownPeriod[],
  pods: readonly Pod[],
): readonly ShutdownGroup[] {
  return periods.map((period, index) => ({
    ...period,
    pods: pods.filter(({spec}) => periodIndex(periods, spec.priority ?? 0) === index),
  }));
}

function periodIndex(periods: readonly ShutdownPeriod[], priority: number): number {
  const next = periods.findIndex((period) => period.priority >= priority);
  if (next === -1) return periods.length - 1;
  return periods[next]?.priority === priority ? next : Math.max(0, next - 1);
}

/** Returns the grace period of a pod in a group: its own, if it is shorter (killPods). */
export function shutdownGraceSeconds(
  {spec: {terminationGracePeriodSeconds: own}}: Pod,
  {shutdownGracePeriodSeconds: period}: ShutdownPeriod,
): number {
  return own !== undefined && own <= period ? own : period;
}

/** Returns the time that all groups need together, in seconds (periodRequested). */
export function requestedSeconds(periods: readonly ShutdownPeriod[]): number {
  return periods.reduce((sum, {shutdownGracePeriodSeconds}) => sum + shutdownGracePeriodSeconds, 0);
}
