import {isInitContainer, parseMs, type ContainerTimes, type PodFacts} from './pod-facts.js';

/** Time in which a pod was Ready for the first time, in ms since the epoch. */
export interface FirstReadiness {
  readonly readyMs: number;
  /** Absent if it is Ready since, or its end is not known. */
  readonly readyUntilMs?: number;
}

/** Returns when the pod was Ready for the first time; undefined if it never was, or it is not known. Pure. */
export function firstReadiness(facts: PodFacts): FirstReadiness | undefined {
  const readyMs = measuredReadyMs(facts) ?? (hasRestarted(facts) ? undefined : statusReadyMs(facts));
  if (readyMs === undefined) return undefined;
  const ends = readinessEnds(facts, readyMs);
  return {readyMs, ...(ends.length > 0 && {readyUntilMs: Math.min(...ends)})};
}

/**
 * Returns the time of the condition Ready; undefined if the pod is not Ready. It has whole seconds: a container that started in
 * that second was started before.
 */
export function statusReadyMs(facts: PodFacts): number | undefined {
  const ready = facts.pod.status?.conditions?.find(({type}) => type === 'Ready');
  const second = ready?.status === 'True' ? parseMs(ready.lastTransitionTime ?? undefined) : undefined;
  if (second === undefined || hasEndedBefore(facts, second, second + 1000)) return undefined;
  const started = facts.containers.flatMap(({startedMs = second}) =>
    startedMs < second + 1000 ? startedMs : [],
  );
  return Math.max(second, ...started);
}

/** Returns the time at which the kubelet found the pod Ready; undefined if it did not see the start of the pod. */
function measuredReadyMs(facts: PodFacts): number | undefined {
  const {steps} = facts;
  if (!steps.some(({step}) => step === 'Admitted')) return undefined;
  // A status may be older than the end of a container.
  return steps.find(({step, at}) => step === 'PodReady' && !hasEndedBefore(facts, at, at))?.at;
}

/** Returns the instances of the containers that a pod needs to be Ready. */
function neededInstances(facts: PodFacts): readonly ContainerTimes[] {
  return facts.containers.filter(({name}) => !isInitContainer(facts, name));
}

/** Reports whether the last instance of a container that started until `startedUntilMs` had ended before `ms`. */
function hasEndedBefore(facts: PodFacts, ms: number, startedUntilMs: number): boolean {
  const last = new Map<string, ContainerTimes>();
  for (const instance of neededInstances(facts))
    if ((instance.startedMs ?? Infinity) <= startedUntilMs) last.set(instance.name, instance);
  return [...last.values()].some(({finishedMs = Infinity}) => finishedMs < ms);
}

/** Reports whether a container has restarted: the condition may then be that of a later time. */
function hasRestarted(facts: PodFacts): boolean {
  const {initContainerStatuses = [], containerStatuses = []} = facts.pod.status ?? {};
  const names = neededInstances(facts).map(({name}) => name);
  return (
    new Set(names).size < names.length ||
    [...initContainerStatuses, ...containerStatuses].some(
      ({name, restartCount}) => restartCount > 0 && !isInitContainer(facts, name),
    )
  );
}

/** Returns the times at which a container that was ready was not any more. */
function readinessEnds(facts: PodFacts, readyMs: number): readonly number[] {
  return [
    ...facts.steps.flatMap(({step, at, container = ''}) =>
      step === 'NotReady' && at >= readyMs && !isInitContainer(facts, container) ? at : [],
    ),
    ...neededInstances(facts).flatMap(({startedMs = Infinity, finishedMs = -Infinity}) =>
      startedMs <= readyMs && finishedMs >= readyMs ? finishedMs : [],
    ),
  ];
}
