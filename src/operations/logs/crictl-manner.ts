import {lstatSync} from 'node:fs';
import {dirname} from 'node:path';
import {hasErrno, isSystemCallError, SystemError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {goQuote} from '../../format/go-quote.js';
import type {LogStream} from '../../cri/index.js';
import type {LogManner} from './manner.js';
import {CrictlPen} from './pen.js';
import {planAsCrictl} from './plan.js';

const ALL_STREAMS: ReadonlySet<LogStream> = new Set(['stdout', 'stderr']);

/** crictl's: one file, physical lines, its format settled by the first one. */
export const CRICTL_MANNER: LogManner = {
  plan: planAsCrictl,
  readsRotated: false,
  finishesFollowed: false,
  // Whether a time is put in front of a line depends on those that are left out too.
  readSelection: () => ({streams: ALL_STREAMS}),
  pen: (writer, options) => new CrictlPen(writer, options),
  refuseLog: (line) => {
    throw new SystemError(
      `failed to get parse function: unsupported log format: ${goQuote(line.toString())}`,
    );
  },
  failure: (path, error) => (isSystemCallError(error) ? new SystemError(said(path, error)) : error),
};

function said(path: string, error: unknown): string {
  const quoted = goQuote(path);
  const reason = systemReason(error);
  if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP'))
    return `failed to try resolving symlinks in path ${quoted}: lstat ${firstMissing(path)}: ${reason}`;
  if (hasErrno(error, 'EISDIR')) return `failed to read log file ${quoted}: read ${path}: is a directory`;
  return `failed to open log file ${quoted}: open ${path}: ${reason}`;
}

/** The highest part of the path that isn't there. */
function firstMissing(path: string): string {
  const parent = dirname(path);
  return parent === path || lstatSync(parent, {throwIfNoEntry: false}) !== undefined
    ? path
    : firstMissing(parent);
}
