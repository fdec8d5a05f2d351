import {lstatSync} from 'node:fs';
import {dirname} from 'node:path';
import {hasErrno, isSystemCallError, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {goQuote} from '../../format/go-quote.js';
import type {LogStream} from '../../cri/index.js';
import type {LogReadStrategy} from './log-read-strategy.js';
import {CrictlFormatter} from './crictl-log-formatter.js';
import {findCrictlLogRanges} from './crictl-log-ranges.js';

const ALL_STREAMS: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);

/** Strategy of cri-client, which kubelets and crictl use: one file, physical lines (logs.go ReadLogs). */
export const CRI_CLIENT_LOG_STRATEGY: LogReadStrategy = {
  findRanges: findCrictlLogRanges,
  readsRotated: false,
  finishesFollowed: false,
  // Lines that are not selected also determine whether the next one starts with a timestamp.
  readSelection: () => ({streams: ALL_STREAMS}),
  createFormatter: (writer, options) => new CrictlFormatter(writer, options),
  failure: (path, error) => (isSystemCallError(error) ? new SystemError(crictlMessage(path, error)) : error),
};

/** crictl's strategy: that of cri-client, with the format determined by the first line. */
export const CRICTL_LOG_STRATEGY: LogReadStrategy = {
  ...CRI_CLIENT_LOG_STRATEGY,
  refuseLog: (line) => {
    throw new SystemError(
      `failed to get parse function: unsupported log format: ${goQuote(line.toString())}`,
    );
  },
};

function crictlMessage(path: string, error: unknown): string {
  const quoted = goQuote(path);
  const reason = systemErrorMessage(error);
  if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP'))
    return `failed to try resolving symlinks in path ${quoted}: lstat ${firstMissing(path)}: ${reason}`;
  if (hasErrno(error, 'EISDIR')) return `failed to read log file ${quoted}: read ${path}: is a directory`;
  return `failed to open log file ${quoted}: open ${path}: ${reason}`;
}

/** Returns the first component of the path that does not exist. */
function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || lstatSync(parent, {throwIfNoEntry: false}) !== undefined
    ? path
    : firstMissing(parent);
}
