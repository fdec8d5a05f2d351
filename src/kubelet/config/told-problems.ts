import type {SourceReport} from './pod-source.js';

/** Problems that there are, each by what makes it the same problem. */
export type Problems = Map<string, SourceReport>;

/** Tells of each problem once: again only after it was gone for a while. */
export class ToldProblems {
  readonly #report: (report: SourceReport) => void;
  #told: ReadonlySet<string> = new Set();

  constructor(report: (report: SourceReport) => void) {
    this.#report = report;
  }

  /** Takes all problems that there are now. */
  tell(problems: ReadonlyMap<string, SourceReport>): void {
    for (const [key, report] of problems) if (!this.#told.has(key)) this.#report(report);
    this.#told = new Set(problems.keys());
  }
}
