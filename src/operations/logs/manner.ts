import {isSystemCallError, KcriError, SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {JoiningPen, type Pen, type PenOptions} from './pen.js';
import {planHistory, type HistoryOptions, type LogPlan} from './plan.js';
import type {LogSelection} from './selection.js';
import type {LogWriter} from './writer.js';

/** All in which reading logs differs between kcri's own way and crictl's (crictl-manner.ts). */
export interface LogManner {
  plan(path: string, options: HistoryOptions): Promise<LogPlan>;
  /** Files that the log was rotated into are read too. */
  readonly readsRotated: boolean;
  /** Of a followed log, what stands behind the last line's end is a line once nothing can follow it. */
  readonly finishesFollowed: boolean;
  /** What of the selection is decided when lines are read; the rest is the pen's to do. */
  readSelection(selection: LogSelection): LogSelection;
  pen(writer: LogWriter, options: PenOptions & LogSelection): Pen;
  /** Throws when a log that starts with a line in no known format isn't read at all. */
  refuseLog?(line: Buffer): void;
  /** What is shown when a log can't be read. */
  failure(path: string, error: unknown): unknown;
}

/** kcri's own. */
export const OWN_MANNER: LogManner = {
  plan: planHistory,
  readsRotated: true,
  finishesFollowed: true,
  readSelection: (selection) => selection,
  pen: (writer, options) => new JoiningPen(writer, options),
  failure: (path, error) => {
    if (error instanceof KcriError || !isSystemCallError(error)) return error;
    return new SystemError(`reading the log "${path}": ${systemReason(error)}`, {
      cause: error,
      hint: "logs are files on the runtime's machine; run kcri there, with permission to read them",
    });
  },
};
