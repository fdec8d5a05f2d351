import {closeSync, openSync, readSync} from 'node:fs';
import {hasErrno} from '../../../base/errors.js';
import {READ_WITHOUT_BLOCKING} from '../../../base/fs/read-text-file.js';
import type {OomKill} from './pod-snapshot.js';

/** A record of the kernel's log. */
export interface KernelRecord {
  /** Time since the boot, in microseconds. */
  readonly micros: number;
  readonly text: string;
}

/** Size of a buffer that every record fits into (CONSOLE_EXT_LOG_MAX). */
const RECORD_BYTES = 8192;
/** Number of records that are read; the log of a node has some thousands. */
const MAX_RECORDS = 50_000;

/** Reads the kernel's log without waiting for more. Throws a system error if it cannot be opened. */
export function readKernelLog(path = '/dev/kmsg'): readonly KernelRecord[] {
  const file = openSync(path, READ_WITHOUT_BLOCKING);
  try {
    const records: KernelRecord[] = [];
    const buffer = Buffer.alloc(RECORD_BYTES);
    for (let count = 0; count < MAX_RECORDS; count += 1) {
      const size = readRecord(file, buffer);
      if (size === 0) break;
      const record = size === undefined ? undefined : parseRecord(buffer.toString('utf8', 0, size));
      if (record !== undefined) records.push(record);
    }
    return records;
  } finally {
    closeSync(file);
  }
}

/** Returns the size of the next record, 0 at the end, and undefined if records were overwritten before it. */
function readRecord(file: number, buffer: Buffer): number | undefined {
  try {
    return readSync(file, buffer);
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return 0;
    if (hasErrno(error, 'EPIPE')) return undefined;
    throw error;
  }
}

/** Returns the records of a text with a line for each, such as a copy of /dev/kmsg. Pure. */
export function parseKernelLog(text: string): readonly KernelRecord[] {
  return text
    .split('\n')
    .slice(-MAX_RECORDS)
    .flatMap((line) => parseRecord(line) ?? []);
}

function parseRecord(text: string): KernelRecord | undefined {
  const [, micros, message] = /^\d+,\d+,(\d+),[^;]*;([^\n]*)/.exec(text) ?? [];
  return message === undefined ? undefined : {micros: Number(micros), text: message};
}

/** Returns the time of the boot from /proc/stat, in ms since the epoch; undefined without one. Pure. */
export function parseBootTime(text: string): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const KIB = 1024;

/** Returns the processes that the kernel killed for memory in containers; `bootMs` is the time of the boot. */
export function parseOomKills(records: readonly KernelRecord[], bootMs: number): readonly OomKill[] {
  const kills: OomKill[] = [];
  let memory: Pick<OomKill, 'limit' | 'usage'> = {};
  let processes = 0;
  let containerId = '';
  for (const {micros, text} of records) {
    if (text.includes(' invoked oom-killer')) [memory, processes, containerId] = [{}, 0, ''];
    const usage = /^memory: usage (\d+)kB, limit (\d+)kB/.exec(text);
    if (usage !== null) memory = {usage: Number(usage[1]) * KIB, limit: Number(usage[2]) * KIB};
    if (/^\[\s*\d+\]\s/.test(text) && !text.endsWith(' pause')) processes += 1;
    containerId = /^oom-kill:.*,task_memcg=[^,]*?([0-9a-f]{64})/.exec(text)?.[1] ?? containerId;
    const killed = /Killed process \d+ \((.*)\) total-vm:\d+kB, anon-rss:(\d+)kB/.exec(text);
    if (killed === null || containerId === '') continue;
    kills.push({
      at: new Date(bootMs + micros / 1000).toISOString(),
      containerId,
      process: killed[1] ?? '',
      residentBytes: Number(killed[2]) * KIB,
      ...memory,
      processes,
    });
  }
  return kills;
}
