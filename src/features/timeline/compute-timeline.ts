import {medianOf} from '../../base/compare.js';
import {eventPhases} from './event-phases.js';
import {firstReadiness} from './first-readiness.js';
import {kubeletPhases} from './kubelet-phases.js';
import {mountPhases} from './mount-phases.js';
import {endOf, isWork, PHASES, type Phase, type PhaseName, type Timeline} from './phase.js';
import {seenMsOf, type PodFacts} from './pod-facts.js';
import {runtimePhases} from './runtime-phases.js';

/** Two sources mean the same phase if their times are not further apart, in ms: some have whole seconds. */
const SAME_MS = 1500;
/** Number of durations from which there is a median. */
const MIN_SAMPLES = 3;
/** Phases that measured ones of other names cover: their begin or end is the same. */
const COVERS: Partial<Record<PhaseName, readonly PhaseName[]>> = {
  sandbox: ['sandbox', 'volumes'],
  readiness: ['readiness', 'startup'],
};

/** Returns the life of a pod; of what several sources know, the best one counts. Pure. */
export function computeTimeline(facts: PodFacts): Timeline {
  const {namespace, name, uid, manager, isDeleted, nowMs} = facts;
  const phases = [kubeletPhases(facts), mountPhases(facts), eventPhases(facts), runtimePhases(facts)]
    .reduce((better, worse) => [...better, ...worse.filter((phase) => !isCovered(phase, better, nowMs))])
    .toSorted(byStart);
  return {
    ...{namespace, name, uid, manager, ...(isDeleted && {isDeleted})},
    startMs: Math.min(seenMsOf(facts) ?? Infinity, phases[0]?.startMs ?? nowMs),
    ...firstReadiness(facts),
    nowMs,
    phases,
  };
}

type StartedPhase = Pick<Phase, 'name' | 'startMs'>;

/** Compares phases by their starts, and those of one time by their usual order. */
export function byStart(a: StartedPhase, b: StartedPhase): number {
  return a.startMs - b.startMs || PHASES.indexOf(a.name) - PHASES.indexOf(b.name);
}

/** Reports whether a better source has the phase. */
function isCovered(phase: Phase, better: readonly Phase[], nowMs: number): boolean {
  const names = COVERS[phase.name] ?? [phase.name];
  return better.some(
    (other) =>
      names.includes(other.name) &&
      (other.name === phase.name || other.inferred === undefined) &&
      (phase.subject === undefined || phase.subject === 'pod' || other.subject === phase.subject) &&
      other.startMs <= endOf(phase, nowMs) + SAME_MS &&
      phase.startMs <= endOf(other, nowMs) + SAME_MS,
  );
}

/** A phase with its duration, of how much of the time it is, and the node's median. */
export interface RatedPhase {
  readonly phase: Phase;
  readonly durationMs: number;
  /** Median duration of phases of this name on the node, in ms; absent if too few are known. */
  readonly medianMs?: number;
}

/** Median durations in ms by the name of the phase. */
export type Medians = ReadonlyMap<PhaseName, number>;

/** Returns the median durations of the phases of a node's pods that have ended and did not fail. Pure. */
export function computeMedians(timelines: readonly Timeline[]): Medians {
  const durations = new Map<PhaseName, number[]>();
  for (const phase of timelines.flatMap(({phases}) => phases)) {
    const {name, startMs, endMs, isFailed} = phase;
    if (endMs === undefined || isFailed === true || !isWork(phase)) continue;
    const list = durations.get(name) ?? [];
    list.push(endMs - startMs);
    durations.set(name, list);
  }
  const known = [...durations].filter(([, list]) => list.length >= MIN_SAMPLES);
  return new Map(known.map(([name, list]) => [name, medianOf(list)]));
}

/** Returns the phases that are work or waits, the slowest first. Pure. */
export function slowestPhases({phases, nowMs}: Timeline, medians: Medians): readonly RatedPhase[] {
  return phases
    .filter(isWork)
    .map((phase) => rated(phase, nowMs, medians))
    .toSorted((a, b) => b.durationMs - a.durationMs);
}

/** Returns a phase with its duration. */
export function rated(phase: Phase, nowMs: number, medians: Medians): RatedPhase {
  const medianMs = isWork(phase) ? medians.get(phase.name) : undefined;
  const durationMs = Math.max(0, endOf(phase, nowMs) - phase.startMs);
  return {phase, durationMs, ...(medianMs !== undefined && {medianMs})};
}

/** Returns the time between two moments that no work covers, in ms. Pure. */
export function uncoveredMs({phases, nowMs}: Timeline, fromMs: number, untilMs: number): number {
  let reached = fromMs;
  let uncovered = 0;
  for (const phase of phases.filter(isWork).toSorted(byStart)) {
    if (phase.startMs >= untilMs) break;
    uncovered += Math.max(0, phase.startMs - reached);
    reached = Math.max(reached, endOf(phase, nowMs));
  }
  return uncovered + Math.max(0, untilMs - reached);
}
