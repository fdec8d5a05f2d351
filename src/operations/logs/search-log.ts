import {anySignal} from '../../base/async/any-signal.js';
import type {LogStream} from '../../cri/index.js';
import type {TextPattern} from '../filters/go-regexp.js';
import type {LogFiles} from './log-files.js';
import type {FollowOptions} from './follow/follow-options.js';
import type {LogTime} from './log-selection.js';
import {readLog} from './read-log.js';

/** Maximum length of a line that is searched, in bytes; the rest of a longer one is ignored. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Options of searchLog. */
export interface SearchLogOptions {
  readonly pattern: TextPattern;
  /** Time of the first line; by default all lines are searched. */
  readonly since?: LogTime | undefined;
  /** How to follow the log; undefined to search only what is written already. */
  readonly follow: FollowOptions | undefined;
  /** Log files of the node; by default those of this machine. */
  readonly files?: LogFiles | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns the first line of a container's log that matches, including rotated files; undefined if the log ends before.
 * Rejects with SystemError if the file cannot be read, and with the signal's reason.
 */
export async function searchLog(
  path: string,
  {pattern, since, follow, files, signal}: SearchLogOptions,
): Promise<string | undefined> {
  const found = new AbortController();
  const lines = {stdout: new LineCollector(), stderr: new LineCollector()};
  let match: string | undefined;
  const check = (line: string): void => {
    if (match !== undefined || !pattern.test(line)) return;
    match = line;
    found.abort();
  };
  const sink = {
    write: (stream: LogStream, bytes: Uint8Array) => {
      lines[stream].add(bytes, check);
    },
    ready: async () => undefined,
  };
  using either = anySignal(signal, found.signal);
  const options = {
    streams: new Set(['stdout', 'stderr'] as const),
    since,
    follow,
    files,
    signal: either.signal,
  };
  try {
    await readLog(path, options, sink);
    for (const collector of Object.values(lines)) collector.end(check);
  } catch (error) {
    if (!found.signal.aborted) throw error;
  }
  return match;
}

/** Collects lines from chunks of bytes. */
class LineCollector {
  #parts: Buffer[] = [];
  #length = 0;

  add(bytes: Uint8Array, onLine: (line: string) => void): void {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#keep(rest.subarray(0, end));
      onLine(this.#take());
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
  }

  end(onLine: (line: string) => void): void {
    if (this.#length > 0) onLine(this.#take());
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, MAX_LINE_BYTES - this.#length);
    if (kept.length === 0) return;
    this.#parts.push(kept);
    this.#length += kept.length;
  }

  #take(): string {
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#length = 0;
    return text.replace(/\r$/, '');
  }
}
