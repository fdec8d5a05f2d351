import type {FaultName, FaultPoint} from './fault-point.js';

/** Order to play the points of a case. */
export interface CaseOrder {
  readonly caseName: string;
  /** Plays one point in this number, chosen by `seed`. */
  readonly every: number;
  readonly seed: number;
  /** Plays only points whose description contains this text. */
  readonly only?: string | undefined;
  /** Description of the only point with volumes that is played, `times` times. */
  readonly point?: string | undefined;
  readonly times: number;
  /** Path of scripts/faults/run-compiled.cjs. */
  readonly runner: string;
  /** Begins no point with volumes after this time. */
  readonly minutes: number;
  /** Points with volumes that are not played again, as they were reported. */
  readonly played?: readonly string[] | undefined;
}

/** Result of a point. */
export interface PointReport {
  readonly caseName: string;
  readonly kind: FaultPoint['kind'] | 'kill twice' | 'driver' | 'driver and kill' | 'none';
  readonly fault?: FaultName;
  readonly point: string;
  readonly wasReached: boolean;
  readonly violations: readonly string[];
}
