import {startTimer} from '../../base/async/timer.js';
import type {JsonObject} from '../../format/json.js';
import {formatMicroseconds} from '../lines/call-line.js';
import type {Side, TapClock} from '../tap/connection-tap.js';
import type {CollectorLimits} from '../tap/message-collector.js';
import type {SessionSink, StreamLabel} from './session-sink.js';
import {cutCharacterLength, formatContent, type MaskLine} from './stream-content.js';

/** Session that a client may open with the URL that a call answered. */
export interface OfferedSession {
  /** Number of the call in this recording; undefined if it is not known. */
  readonly call: number | undefined;
  /** Method of the call: Exec, Attach or PortForward. */
  readonly method: string;
}

/** Options of a recorder of sessions. */
export interface SessionRecorderOptions {
  /** Writes a line. Must not throw. */
  readonly write: (line: JsonObject) => void;
  readonly clock: TapClock;
  readonly limits: CollectorLimits;
  /** Content to record, beside results and sizes of terminals: what clients send, and what they receive. */
  readonly keeps: Readonly<Record<Side, boolean>>;
  readonly maskLine: MaskLine;
}

/** How a session ended. */
export interface SessionEnd {
  /** Who ended it first; `recording` if the recorder did. */
  readonly by: 'client' | 'runtime' | 'recording';
  /** Status of the runtime's response; undefined without one. */
  readonly status: number | undefined;
  readonly subprotocol: string | undefined;
  /** True if a part of it could not be read along. */
  readonly isUnreadable: boolean;
  /** Why the runtime could not be reached. */
  readonly error?: string | undefined;
}

/** Maximum time for which the data of a stream is collected into one line, in ms. */
const COLLECT_MS = 100;
/** Maximum number of directions of streams whose data is collected at a time. */
const MAX_COLLECTED = 64;
/** Maximum length of the content that is recorded of one session, in bytes. */
const MAX_SESSION_BYTES = 16 * 1024 * 1024;
/** Streams whose content is always recorded: the result of a process, and the size of its terminal. */
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['error', 'resize']);

/** Writes lines of sessions: of their starts and ends, and of what passes in each direction of each stream. */
export class SessionRecorder {
  readonly #options: SessionRecorderOptions;
  #lastId = 0;

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
  }

  /** Number of sessions that have started. */
  get sessions(): number {
    return this.#lastId;
  }

  /** Writes the line of a session's start. `protocol` is the one that the client asks for. */
  start(offered: OfferedSession, protocol: string | undefined): RecordedSession {
    this.#lastId += 1;
    return new RecordedSession(this.#lastId, offered, protocol, this.#options);
  }

  /** Writes that the session of a call is not recorded, and why. */
  skip({call, method}: OfferedSession, reason: string): void {
    const {write, clock} = this.#options;
    write({
      time: formatMicroseconds(clock.now()),
      ...(call !== undefined && {call}),
      method,
      sessionOmitted: reason,
    });
  }
}

/** Data of one direction of a stream that is collected for a line. */
interface Collected {
  readonly label: StreamLabel;
  readonly from: Side;
  readonly startedAtMs: number;
  bytes: number;
  readonly parts: Buffer[];
  /** Length of the parts. */
  keptBytes: number;
  /** Why a part of the content is missing. */
  omitted: string | undefined;
  isEnd: boolean;
}

/** Direction of a stream, and the bytes of a character that it has begun. */
interface CutCharacter extends Pick<Collected, 'label' | 'from'> {
  readonly bytes: Buffer;
}

/** A session that is being recorded. */
export class RecordedSession implements SessionSink {
  readonly #id: number;
  readonly #options: SessionRecorderOptions;
  readonly #offered: OfferedSession;
  readonly #startedAt: number;
  readonly #totals: Record<Side, number> = {client: 0, server: 0};
  /** Collected data by direction and stream, in the order of its start. */
  #collected = new Map<string, Collected>();
  /** Start of a character whose end has not been received, by direction and stream. It is in the next line. */
  readonly #cut = new Map<string, CutCharacter>();
  #cancelFlush: () => void = () => undefined;
  #keptBytes = 0;
  #hasEnded = false;

  constructor(
    id: number,
    offered: OfferedSession,
    protocol: string | undefined,
    options: SessionRecorderOptions,
  ) {
    this.#id = id;
    this.#options = options;
    this.#offered = offered;
    this.#startedAt = options.clock.monotonic();
    this.#write('start', options.clock.now(), protocol === undefined ? {} : {protocol});
  }

  onData(label: StreamLabel, from: Side, chunk: Buffer): void {
    if (this.#hasEnded) return;
    const collected = this.#collect(label, from);
    collected.bytes += chunk.length;
    this.#totals[from] += chunk.length;
    if (this.#options.keeps[from] || ALWAYS_KEPT.has(label.stream)) this.#keep(collected, chunk);
  }

  onStreamEnd(label: StreamLabel, from: Side): void {
    if (this.#hasEnded) return;
    this.#collect(label, from).isEnd = true;
  }

  #keep(collected: Collected, chunk: Buffer): void {
    const {maxMessageBytes, budget} = this.#options.limits;
    if (collected.keptBytes + chunk.length > maxMessageBytes) collected.omitted ??= 'too large';
    else if (this.#keptBytes + chunk.length > MAX_SESSION_BYTES) collected.omitted ??= 'session too large';
    else if (!budget.take(chunk.length)) collected.omitted ??= 'out of memory';
    // What follows a gap would not be the content of the stream.
    if (collected.omitted !== undefined) return;
    collected.parts.push(Buffer.from(chunk));
    collected.keptBytes += chunk.length;
    this.#keptBytes += chunk.length;
  }

  /** Returns what is collected of a direction of a stream. */
  #collect(label: StreamLabel, from: Side): Collected {
    const key = keyOf(label, from);
    const before = this.#collected.get(key);
    if (before?.isEnd === false) return before;
    // Another stream may have the name of one that has ended.
    if (before !== undefined || this.#collected.size >= MAX_COLLECTED) this.#flush();
    const cut = this.#cut.get(key)?.bytes;
    this.#cut.delete(key);
    const collected = {
      label,
      from,
      startedAtMs: this.#options.clock.now(),
      bytes: 0,
      parts: cut === undefined ? [] : [cut],
      keptBytes: cut?.length ?? 0,
      omitted: undefined,
      isEnd: false,
    };
    if (this.#collected.size === 0)
      this.#cancelFlush = startTimer(COLLECT_MS, () => {
        this.#flush();
      });
    this.#collected.set(key, collected);
    return collected;
  }

  /** Writes what is collected. In the last flush, nothing is left for a next line. */
  #flush(isLast = false): void {
    this.#cancelFlush();
    const all = this.#collected;
    this.#collected = new Map();
    for (const [key, collected] of all)
      this.#writeData(collected, this.#takeContent(key, collected, isLast || collected.isEnd));
  }

  /** Returns the content without a character that is cut: its end is in the next line, unless a gap follows. */
  #takeContent(key: string, {label, from, parts, omitted}: Collected, isLast: boolean): Buffer {
    const kept = Buffer.concat(parts);
    const cut = isLast ? 0 : cutCharacterLength(kept);
    const isCarried = cut > 0 && omitted === undefined && this.#cut.size < MAX_COLLECTED;
    const content = isCarried || omitted !== undefined ? kept.subarray(0, kept.length - cut) : kept;
    if (isCarried) this.#cut.set(key, {label, from, bytes: Buffer.from(kept.subarray(content.length))});
    this.#options.limits.budget.release(isCarried ? content.length : kept.length);
    return content;
  }

  #writeData({label, from, startedAtMs, bytes, omitted, isEnd}: Collected, content: Buffer): void {
    this.#write('data', startedAtMs, {
      ...label,
      from,
      bytes,
      ...(omitted !== undefined && {contentOmitted: omitted}),
      ...(content.length > 0 && formatContent(content, this.#options.maskLine)),
      ...(isEnd && {end: true}),
    });
  }

  /** Writes what is collected, and the characters whose end will not be received. */
  #flushAll(): void {
    this.#flush(true);
    for (const {label, from} of [...this.#cut.values()]) this.#collect(label, from);
    this.#flush(true);
  }

  /** Writes what is collected, and the line of the end. Only the first end counts. */
  end({by, status, subprotocol, isUnreadable, error}: SessionEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#flushAll();
    const {clock} = this.#options;
    this.#write('end', clock.now(), {
      durationMs: Math.round((clock.monotonic() - this.#startedAt) * 1000) / 1000,
      endedBy: by,
      ...(status !== undefined && {status}),
      ...(subprotocol !== undefined && {subprotocol}),
      bytes: this.#totals,
      ...(isUnreadable && {unreadable: true}),
      ...(error !== undefined && {error}),
    });
  }

  #write(event: string, timeMs: number, members: JsonObject): void {
    const {call, method} = this.#offered;
    this.#options.write({
      time: formatMicroseconds(timeMs),
      session: this.#id,
      event,
      ...(event === 'start' && {...(call !== undefined && {call}), method}),
      ...members,
    });
  }
}

function keyOf({stream, port, request}: StreamLabel, from: Side): string {
  return JSON.stringify([from, stream, port, request]);
}
