import type {FailuresReport} from './test-counts.mjs';

/** A test that was repeated after a failure. */
export interface RepeatedTest {
  readonly project: string;
  readonly file: string;
  readonly test: string;
  readonly hasPassed: boolean;
  /** The first lines of the errors of its failed attempts. */
  readonly errors: readonly string[];
}

export declare function findRepeatedTests(report: FailuresReport, project: string): RepeatedTest[];
export declare function formatLedger(repeated: readonly RepeatedTest[], root: string): string[];
export declare function explainTooMany(repeated: readonly RepeatedTest[]): string | undefined;
