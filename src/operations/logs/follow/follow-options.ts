import type {Clock} from '../../../base/clock.js';

/** Interval of the checks of a followed log and its container, in ms. */
export const POLL_MS = 1000;

/** State of a container whose log is followed. */
export type LogProgress =
  | {readonly kind: 'running'}
  /** May be restarted; `notice` is shown once. */
  | {readonly kind: 'waiting'; readonly notice: string}
  /** Was restarted and writes to another file. */
  | {readonly kind: 'restarted'; readonly path: string; readonly notice: string}
  | {readonly kind: 'ended'};

/** Options of following a log after its end. */
export interface FollowOptions {
  readonly clock: Clock;
  /** Returns the state of the container. Called while the log is idle, at most once per `pollMs`. */
  readonly progress: () => Promise<LogProgress>;
  /** Returns the interval of these calls in milliseconds; POLL_MS by default. */
  readonly pollMs?: (() => number) | undefined;
}
