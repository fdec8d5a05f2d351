import {readFile} from 'node:fs/promises';
import {SystemError} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {formatRfc3339Seconds, ZERO_TIME} from '../../../format/time.js';

/** Times of the last graceful shutdown, in ms since the epoch; undefined for none. */
export interface ShutdownTimes {
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** Name of the kubelet's file in its root directory. */
export const SHUTDOWN_STATE_FILE = 'graceful_node_shutdown_state';

/** Stores the times durably: the machine is about to stop. Rejects with SystemError. */
export async function storeShutdownTimes(path: string, {startedAt, endedAt}: ShutdownTimes): Promise<void> {
  await writeFileAtomic(
    path,
    JSON.stringify({startTime: timeOf(startedAt), endTime: timeOf(endedAt)}),
    0o644,
  );
}

/** Reads the times; none without a file. Rejects with SystemError, also if the file is damaged. */
export async function loadShutdownTimes(path: string): Promise<ShutdownTimes> {
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  if (text === undefined) return {startedAt: undefined, endedAt: undefined};
  const {startTime, endTime} = parseJsonObject(text);
  if (startTime === undefined) throw new SystemError(`the file "${path}" is not a state of a shutdown`);
  return {startedAt: millisecondsOf(startTime), endedAt: millisecondsOf(endTime)};
}

function timeOf(ms: number | undefined): string {
  return ms === undefined ? ZERO_TIME : formatRfc3339Seconds(ms);
}

function millisecondsOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' && time !== ZERO_TIME ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
