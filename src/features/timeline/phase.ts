import type {PodManagerName} from '../pods/pod-selection-flags.js';

/** Phases of a pod's life, in the order in which they usually begin. */
export const PHASES = [
  'admission',
  'volumes',
  'mount',
  'sandbox',
  'pull',
  'create',
  'start',
  'init',
  'startup',
  'readiness',
  'running',
  'back-off',
  'failure',
  'stop',
  'remove',
] as const;

export type PhaseName = (typeof PHASES)[number];

/** Source of the times of a phase. `recording`: a file of `kcri record`. */
export type PhaseSource = 'kubelet' | 'runtime' | 'events' | 'status' | 'recording';

/** One phase of a pod's life. Times are in ms since the epoch. */
export interface Phase {
  readonly name: PhaseName;
  /** Container, image or call that the phase is about; absent for the whole pod. */
  readonly subject?: string;
  readonly startMs: number;
  /** Absent if it has not ended. */
  readonly endMs?: number;
  /** Absent if both times were measured. Otherwise what was concluded, for people. */
  readonly inferred?: string;
  readonly source: PhaseSource;
  readonly isFailed?: true;
  /** Details for people, such as the message of an error. */
  readonly note?: string;
}

/** The life of a pod. Times are in ms since the epoch. */
export interface Timeline {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Absent in a recording. */
  readonly manager?: PodManagerName;
  /** True for a pod that is gone from the node. */
  readonly isDeleted?: true;
  /** Time at which the pod was first seen, or the start of its first phase. */
  readonly startMs: number;
  /** Time at which the pod became Ready for the first time; absent if it never was, or it is not known. */
  readonly readyMs?: number;
  /** Time at which that ended; absent if it is Ready since, or it is not known. */
  readonly readyUntilMs?: number;
  /** Time of the reading, at which phases that have not ended are cut. */
  readonly nowMs: number;
  /** By their starts. */
  readonly phases: readonly Phase[];
}

/** Gap between two instances of a container that counts as a wait, in ms. */
export const BACK_OFF_MS = 1000;

/** Phases that are no work of their own: states, which say nothing about slowness, and parts of another phase. */
const NO_WORK: ReadonlySet<PhaseName> = new Set(['mount', 'running', 'failure']);

/** Reports whether a phase is work or a wait, whose duration matters. */
export function isWork({name}: Phase): boolean {
  return !NO_WORK.has(name);
}

/** Returns the end of a phase, which is the time of the reading if it has not ended. */
export function endOf({endMs}: Phase, nowMs: number): number {
  return endMs ?? nowMs;
}

/** Returns the name and the subject of a phase. */
export function phaseTitle({name, subject}: Phase): string {
  return subject === undefined ? name : `${name} ${subject}`;
}

/** Rounds a number to three decimals, such as ms to microseconds. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
