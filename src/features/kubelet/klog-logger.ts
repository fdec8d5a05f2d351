import type {Clock} from '../../base/clock.js';
import type {FileLogger, LogFields, Logger} from '../../base/logger.js';
import {matchesGlob} from '../../base/glob.js';
import type {FileVerbosity, LiveValue} from '../../kubelet/index.js';
import {formatKlogJson, formatKlogText, positionIn, type LogRecord} from '../../format/klog.js';
import type {OutputStream} from '../../cli/process/standard-output.js';
import {LogWriter} from './log-writer.js';

/** Options of {@link KlogLogger}. */
export interface KlogOptions {
  readonly stream: OutputStream;
  readonly clock: Clock;
  readonly pid: number;
  /** Maximum verbosity of messages that are logged (--v). */
  readonly verbosity: LiveValue<number>;
  /** Verbosities of single files (--vmodule). */
  readonly vmodule: LiveValue<readonly FileVerbosity[]>;
  readonly format: LiveValue<'text' | 'json'>;
  /** Redacts secrets in a line. */
  readonly mask: (text: string) => string;
}

/** Maximum time to flush the log at exit, in ms. */
const FLUSH_TIMEOUT_MS = 1000;

/**
 * Logger that writes the kubelet's log in klog format. Never throws or blocks; drops and counts lines if the reader is
 * too slow.
 */
export class KlogLogger implements Logger {
  readonly #options: KlogOptions;
  readonly #writer: LogWriter;

  constructor(options: KlogOptions) {
    this.#options = options;
    this.#writer = new LogWriter(options.stream, (count) =>
      this.#line({
        severity: 'error',
        message: 'Dropped log lines because the reader is too slow',
        fields: {lines: count},
        verbosity: 0,
        caller: positionIn('log-writer.ts'),
      }),
    );
  }

  forFile(file: string): FileLogger {
    const caller = positionIn(file);
    const name = file.replace(/\.ts$/, '');
    return {
      info: (message, fields = {}, verbosity = 0) => {
        if (verbosity <= this.#options.verbosity.current || verbosity <= this.#verbosityOf(name))
          this.#log({severity: 'info', message, fields, verbosity, caller});
      },
      error: (...args) => {
        this.#error(caller, ...args);
      },
    };
  }

  /** Returns the verbosity of a single file: that of the first pattern that matches (klog setV). */
  #verbosityOf(name: string): number {
    const {vmodule} = this.#options;
    return vmodule.current.find(({filePattern}) => matchesGlob(filePattern, name))?.verbosity ?? 0;
  }

  #error(caller: string, error: unknown, message: string, fields: LogFields = {}): void {
    this.#log({severity: 'error', error, message, fields, verbosity: 0, caller});
  }

  #log(record: Omit<LogRecord, 'time' | 'pid'>): void {
    this.#writer.write(this.#line(record));
  }

  #line(record: Omit<LogRecord, 'time' | 'pid'>): string {
    const {clock, pid, mask, format} = this.#options;
    const write = format.current === 'json' ? formatKlogJson : formatKlogText;
    return mask(write({...record, time: clock.now(), pid}));
  }

  /** Resolves when all lines are written, or after a second. */
  async flush(): Promise<void> {
    await this.#writer.flush(this.#options.clock, FLUSH_TIMEOUT_MS);
  }
}
