import type {SourceReport} from './pod-source.js';

/** Current problems by a key that identifies them. */
export type Problems = Map<string, SourceReport>;

/** Reports each problem once; a problem that disappears and returns is reported again. */
export class ProblemDeduplicator {
  readonly #report: (report: SourceReport) => void;
  #reported: ReadonlySet<string> = new Set();

  constructor(report: (report: SourceReport) => void) {
    this.#report = report;
  }

  /** Reports the new ones of all current problems. */
  report(problems: ReadonlyMap<string, SourceReport>): void {
    for (const [key, report] of problems) if (!this.#reported.has(key)) this.#report(report);
    this.#reported = new Set(problems.keys());
  }
}
