import type {TimelineStep} from '../../kubelet/index.js';
import type {Phase} from './phase.js';
import {findContainer, statusOf, type PodFacts} from './pod-facts.js';

/** Life of an instance of a container, in ms since the epoch; what has not happened is absent. */
interface InstanceLife {
  readonly name: string;
  /** End of StartContainer. */
  readonly launchedMs: number;
  readonly startedMs: number | undefined;
  readonly readyMs: number | undefined;
  /** Absent also if the runtime has removed the instance. */
  readonly exitMs: number | undefined;
  /** True if a success would be among the steps. */
  readonly isWhole: boolean;
}

/**
 * Returns the waits for the probes of the instance that a step has started: until they succeeded, or until the container ended. What
 * has no probe succeeds at once.
 */
export function probePhases(
  start: TimelineStep,
  after: readonly TimelineStep[],
  facts: PodFacts,
): readonly Phase[] {
  if (start.step !== 'StartContainer' || start.isFailed === true || start.isOpen === true) return [];
  const life = lifeOf(start, after, facts);
  const {name, launchedMs, startedMs, readyMs} = life;
  const {startupProbe, readinessProbe} = findContainer(facts, name) ?? {};
  const isStarting = startupProbe !== undefined && startedMs === undefined && readyMs === undefined;
  return [
    ...phaseOf('startup', life, {fromMs: launchedMs, atMs: startedMs, isAwaited: isStarting}),
    ...phaseOf('readiness', life, {
      fromMs: startedMs ?? launchedMs,
      atMs: readyMs,
      isAwaited: !isStarting && readinessProbe !== undefined,
    }),
  ];
}

interface ProbeWait {
  readonly fromMs: number;
  /** Time of the success; undefined if there was none. */
  readonly atMs: number | undefined;
  /** True if a probe is waited for. */
  readonly isAwaited: boolean;
}

function phaseOf(
  name: 'startup' | 'readiness',
  {name: subject, exitMs, isWhole}: InstanceLife,
  {fromMs, atMs, isAwaited}: ProbeWait,
): readonly Phase[] {
  const phase = {name, subject, startMs: fromMs, source: 'kubelet'} as const;
  if (atMs !== undefined) return [{...phase, startMs: Math.min(fromMs, atMs), endMs: atMs}];
  if (!isAwaited || !isWhole) return [];
  if (exitMs === undefined) return [phase];
  const note = 'the container ended before its probe succeeded';
  return [{...phase, startMs: Math.min(fromMs, exitMs), endMs: exitMs, isFailed: true, note}];
}

function lifeOf(start: TimelineStep, after: readonly TimelineStep[], facts: PodFacts): InstanceLife {
  const {at, ms = 0, container: name = '', containerId} = start;
  const own = after.filter(({container}) => container === name);
  const next = own.findIndex(({step}) => step === 'StartContainer');
  const exitMs = facts.containers.find(({id}) => id === containerId)?.finishedMs;
  // A status may be older than the end of the container, which was not ready then.
  const find = (kind: TimelineStep['step']): number | undefined =>
    (next < 0 ? own : own.slice(0, next)).find(
      (step) => step.step === kind && step.at <= (exitMs ?? Infinity),
    )?.at;
  const isRunning = exitMs === undefined && next < 0;
  return {
    ...{name, launchedMs: at + ms, exitMs, startedMs: find('Started'), readyMs: find('Ready')},
    // An older instance may have been ready, too, so that no step says it of this one.
    isWhole: exitMs !== undefined || (isRunning && statusOf(facts, name)?.ready !== true),
  };
}
