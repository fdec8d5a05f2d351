import {abortable} from '../../base/async/abortable.js';
import {createDeadline} from '../../base/async/deadline.js';
import {anySignal} from '../../base/async/any-signal.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {hasErrno, isSystemCallError, KcriError, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {LogsRecording, RecordedLog} from '../../cli/archive/recorded-logs.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {SecretRedactor} from '../../format/secret-redactor.js';
import {previousLogPath} from '../../operations/logs/container-log.js';
import {LOCAL_LOG_FILES, type LogFiles} from '../../operations/logs/log-files.js';
import {logFilesOf} from '../logs/log-files-of.js';
import type {LoggedContainer} from './record-runtime.js';
import {tellingValues} from './redact-snapshot.js';

/** Number of bytes of a log that are saved at most. */
const MAX_BYTES = 64 * 1024;
const MIN_BYTES = 1024;
/** Time for a log, in ms. */
const TIMEOUT_MS = 2000;
const AT_ONCE = 8;
const NEWLINE = 0x0a;

/**
 * Records the ends of the logs of containers and of their previous attempts, of at most `maxBytes` together, without the values
 * of their variables. A log that cannot be read is recorded with the reason. Rejects with the signal's reason.
 */
export async function recordLogs(
  services: RuntimeContext,
  containers: readonly LoggedContainer[],
  maxBytes: number,
): Promise<LogsRecording> {
  const files = (await logFilesOf(services)) ?? LOCAL_LOG_FILES;
  const wanted = containers.flatMap((container) => logPaths(container).map((path) => ({path, container})));
  const limit = Math.max(Math.min(MAX_BYTES, Math.floor(maxBytes / Math.max(wanted.length, 1))), MIN_BYTES);
  const logs = new Map<string, RecordedLog>();
  await forEachLimit(wanted, AT_ONCE, async ({path, container}) => {
    const log = await readEnd(services, files, path, limit);
    if (log !== undefined)
      logs.set(path, 'text' in log ? {...log, text: withoutVariables(log.text, container)} : log);
  });
  return {
    files: Object.fromEntries(
      wanted.flatMap(({path}) => {
        const log = logs.get(path);
        return log === undefined ? [] : [[path, log]];
      }),
    ),
  };
}

/** Returns the paths of the log of a container and of its previous attempt. */
function logPaths({status}: LoggedContainer): readonly string[] {
  if (status.logPath === '') return [];
  return (status.metadata?.attempt ?? 0) > 0 ? [status.logPath, previousLogPath(status)] : [status.logPath];
}

/** Returns the last lines of a file, or why it cannot be read; undefined if it does not exist. */
async function readEnd(
  {context, signal}: RuntimeContext,
  files: LogFiles,
  path: string,
  limit: number,
): Promise<RecordedLog | undefined> {
  using deadline = createDeadline(context.clock, TIMEOUT_MS, () => new SystemError('not read in time'));
  using either = anySignal(signal, deadline.signal);
  try {
    return await abortable(readLastLines(files, path, limit), either.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (hasErrno(error, 'ENOENT')) return undefined;
    if (isSystemCallError(error) || error instanceof KcriError) return {error: systemErrorMessage(error)};
    throw error;
  }
}

async function readLastLines(files: LogFiles, path: string, limit: number): Promise<RecordedLog> {
  const file = await files.open(path);
  try {
    const {size} = await file.state();
    const start = Math.max(size - limit, 0);
    const buffer = Buffer.alloc(Math.min(size, limit));
    const bytes = buffer.subarray(0, await file.readAt(buffer, start));
    // A line that was cut has no time.
    const text = start === 0 ? bytes : bytes.subarray(bytes.indexOf(NEWLINE) + 1);
    return {text: text.toString(), isCut: start > 0};
  } finally {
    await file.close();
  }
}

/** Masks the values of the variables of a container, except those that name its pod. */
function withoutVariables(text: string, {status, env}: LoggedContainer): string {
  const names = new Set([status.metadata?.name, ...Object.values(status.labels)]);
  const redactor = new SecretRedactor();
  redactor.add(tellingValues(env).filter((value) => !names.has(value)));
  return redactor.mask(text);
}
