import type {CommandReporter} from '../../cli/output/command-reporter.js';

/** Prints each warning once, however often pods are read. */
export class WarnOnce {
  readonly #report: CommandReporter;
  readonly #warned = new Set<string>();

  constructor(report: CommandReporter) {
    this.#report = report;
  }

  /** Warns unless it has warned with this text before. */
  warn(text: string): void {
    if (!this.#warned.has(text)) this.#report.warn(text);
    this.#warned.add(text);
  }
}
