import type {Clock} from '../../base/clock.js';
import type {LogFields, Logger} from '../../base/logger.js';
import {klogJson, klogText, type LogRecord} from '../../format/klog.js';
import type {OutputStream} from '../standard-output.js';
import {LogWriter} from './log-writer.js';

/** How a daemon logs. */
export interface KlogOptions {
  readonly stream: OutputStream;
  readonly clock: Clock;
  readonly pid: number;
  /** What is said at a higher verbosity isn't said (--v). */
  readonly verbosity: number;
  readonly format: 'text' | 'json';
  /** Takes secrets out of a line. */
  readonly mask: (text: string) => string;
}

/** Where lines are lost: whoever is told of it has called from anywhere. */
const LOSER = 'kubelet/log-writer.ts:1';
/** How long the last lines may take. */
const FLUSH_MS = 1000;

/** The kubelet's log. Nothing in it throws or waits; lines that a slow reader doesn't take in time are lost and counted. */
export class Klog implements Logger {
  readonly #options: KlogOptions;
  readonly #writer: LogWriter;

  constructor(options: KlogOptions) {
    this.#options = options;
    this.#writer = new LogWriter(options.stream, (lost) =>
      this.#line({
        severity: 'error',
        message: 'Log lines were lost because nobody read them in time',
        fields: {lines: lost},
        verbosity: 0,
        caller: LOSER,
      }),
    );
  }

  readonly info = (message: string, fields?: LogFields, verbosity?: number): void => {
    this.#info(callerOf(this.info), message, fields, verbosity);
  };

  readonly error = (error: unknown, message: string, fields?: LogFields): void => {
    this.#error(callerOf(this.error), error, message, fields);
  };

  at(caller: string): Logger {
    return {
      info: (...said) => {
        this.#info(caller, ...said);
      },
      error: (...said) => {
        this.#error(caller, ...said);
      },
      at: (place) => this.at(place),
    };
  }

  #info(caller: string, message: string, fields: LogFields = {}, verbosity = 0): void {
    if (verbosity > this.#options.verbosity) return;
    this.#log({severity: 'info', message, fields, verbosity, caller});
  }

  #error(caller: string, error: unknown, message: string, fields: LogFields = {}): void {
    this.#log({severity: 'error', error, message, fields, verbosity: 0, caller});
  }

  #log(record: Omit<LogRecord, 'time' | 'pid'>): void {
    this.#writer.write(this.#line(record));
  }

  #line(record: Omit<LogRecord, 'time' | 'pid'>): string {
    const {clock, pid, mask, format} = this.#options;
    const write = format === 'json' ? klogJson : klogText;
    return mask(write({...record, time: clock.now(), pid}));
  }

  /** Resolves when all is written, or soon. */
  async flush(): Promise<void> {
    await this.#writer.flush(this.#options.clock, FLUSH_MS);
  }
}

/** `kubelet/kubelet.js:12` of whoever called the function. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- what Error.captureStackTrace takes
function callerOf(called: Function): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  const trace: {stack?: string} = {};
  Error.captureStackTrace(trace, called);
  Error.stackTraceLimit = limit;
  return /((?:[^/\s]+\/)?[^/\s]+:\d+):\d+\)?$/.exec(trace.stack ?? '')?.[1] ?? 'unknown:1';
}
