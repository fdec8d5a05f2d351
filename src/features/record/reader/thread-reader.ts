import {Worker} from 'node:worker_threads';
import {startTimer} from '../../../base/async/timer.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {messageOf, SystemError} from '../../../base/errors.js';
import type {MethodSummary} from '../../../recording/lines/call-summary.js';
import {
  ENTRY,
  ringMemory,
  RingWriter,
  type EntryKind,
  type RingEntry,
} from '../../../recording/tap/byte-ring.js';
import type {Side, TapClock} from '../../../recording/tap/connection-tap.js';
import {FrameBoundary} from '../../../recording/tap/frame-boundary.js';
import type {ReadQueue, RelayTap} from '../../../recording/tap/relay-tap.js';
import type {CallReader} from './call-reader.js';
import type {
  ReaderAnswer,
  ReaderMessage,
  ReaderQuestion,
  ReaderRequest,
  ReaderThreadData,
} from './thread-messages.js';

/** Size of the memory that both threads share, in bytes. */
const RING_BYTES = 16 * 1024 * 1024;
/** Bytes in it after which connections wait until they are read. */
const FULL_BYTES = RING_BYTES / 2;
/** Bytes in it after which the thread is woken at once. */
const MANY_BYTES = RING_BYTES / 16;
/** Time after which it is woken, in ms: it reads what has come meanwhile at once. */
const WAKE_MS = 50;
/** Largest entry, in bytes. */
const MAX_ENTRY_BYTES = 1024 * 1024;

/** Options of a ThreadReader. */
export interface ThreadReaderOptions extends Omit<ReaderThreadData, 'memory'> {
  /** Program of the thread. */
  readonly source: string;
  readonly clock: TapClock;
  /** Receives each line, without its line break. */
  readonly write: (line: Buffer) => void;
  /** Called when a connection cannot be read along. It is still relayed. */
  readonly onUnreadable: (message: string) => void;
  /** Called once if the thread fails: nothing is read any more. */
  readonly onFailure: (error: SystemError) => void;
}

interface WaitingEntry extends RingEntry {
  readonly chunk: Buffer;
}

interface Question {
  readonly resolve: (answer: ReaderAnswer) => void;
  readonly reject: (error: SystemError) => void;
}

/**
 * Reads what is relayed in a thread, so that this one only copies bytes. They are passed in shared memory, with the times of their
 * arrival. If the thread cannot keep up, connections wait; if it fails, they are relayed without being read.
 */
export class ThreadReader implements CallReader, ReadQueue {
  /** Passes bytes to the thread at once. */
  readonly queue: ReadQueue = this;
  readonly copies = true;
  readonly #options: ThreadReaderOptions;
  readonly #ring: RingWriter;
  readonly #worker: Worker;
  readonly #questions = new Map<number, Question>();
  readonly #taps = new Map<number, ThreadTap>();
  /** Entries that had no room, in their order. Connections wait then, so that they are few. */
  #overflow: WaitingEntry[] = [];
  #waiters: (() => void)[] = [];
  #questionsAsked = 0;
  #isWaking = false;
  #isFinished = false;
  #failure: SystemError | undefined;
  #last: readonly MethodSummary[] = [];

  constructor(options: ThreadReaderOptions) {
    this.#options = options;
    const memory = ringMemory(RING_BYTES);
    this.#ring = new RingWriter(memory);
    const {makesLines, maxMessageBytes, budgetBytes, mask} = options;
    const workerData: ReaderThreadData = {memory, makesLines, maxMessageBytes, budgetBytes, mask};
    // It needs nothing of this process, and no options that load modules.
    this.#worker = new Worker(options.source, {
      eval: true,
      name: 'reader',
      workerData,
      env: {},
      execArgv: [],
    });
    this.#worker.on('message', (message: ReaderMessage) => {
      this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      this.#fail(messageOf(error));
    });
    this.#worker.on('exit', () => {
      if (!this.#isFinished) this.#fail('its thread has ended');
    });
    this.#worker.unref();
  }

  /** Returns the tap of a new connection. */
  open(connection: number): RelayTap {
    const tap = new ThreadTap({
      put: (kind, chunk) => {
        this.#put(kind, connection, chunk);
        if (kind === ENTRY.close) this.#taps.delete(connection);
      },
      hasOpenCalls: async () => (await this.#ask({kind: 'has open calls', connection})).hasOpenCalls,
    });
    this.#taps.set(connection, tap);
    return tap;
  }

  /** Does nothing: reading delays nothing. */
  touch(): void {
    // The thread is woken by what it has to read.
  }

  push(run: () => void): void {
    run();
  }

  /** Does nothing: questions are answered when all is read. */
  finish(): void {
    // See `summarize` and `end`.
  }

  awaitRoom(act: () => void): boolean {
    const isFull = this.#ring.used >= FULL_BYTES || this.#overflow.length > 0;
    if (this.#failure !== undefined || !isFull) return false;
    this.#waiters.push(act);
    if (this.#waiters.length === 1) runInBackground('record', this.#makeRoom());
    return true;
  }

  async #makeRoom(): Promise<void> {
    await this.#ask({kind: 'drain'}).catch(() => undefined); // a failure is reported, and ends the waiting
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resume of waiters) resume();
  }

  #put(kind: EntryKind, connection: number, chunk: Buffer): void {
    if (this.#failure !== undefined || this.#isFinished) return;
    const {clock} = this.#options;
    const times = {nowMs: clock.now(), sinceMs: clock.monotonic()};
    for (let at = 0; at === 0 || at < chunk.length; at += MAX_ENTRY_BYTES)
      this.#add({kind, connection, ...times, chunk: chunk.subarray(at, at + MAX_ENTRY_BYTES)});
    if (this.#ring.used > MANY_BYTES) this.#wake();
    else if (!this.#isWaking && this.#ring.takeWaiting()) {
      this.#isWaking = true;
      startTimer(WAKE_MS, () => {
        this.#isWaking = false;
        this.#send({kind: 'read'});
      });
    }
  }

  #add(entry: WaitingEntry): void {
    this.#addWaiting();
    if (this.#overflow.length > 0 || !this.#ring.put(entry, entry.chunk))
      this.#overflow.push({...entry, chunk: Buffer.from(entry.chunk)});
  }

  #addWaiting(): void {
    const rest = this.#overflow.findIndex((waiting) => !this.#ring.put(waiting, waiting.chunk));
    this.#overflow = rest < 0 ? [] : this.#overflow.slice(rest);
  }

  /** Wakes the thread at once, if it waits. */
  #wake(): void {
    if (this.#ring.takeWaiting()) this.#send({kind: 'read'});
  }

  #send(request: ReaderRequest): void {
    this.#worker.postMessage(request);
  }

  /** Resolves with the answer when all is read that was relayed before. Rejects with SystemError if the thread has failed. */
  async #ask(question: ReaderQuestion): Promise<ReaderAnswer> {
    while (this.#overflow.length > 0 && this.#failure === undefined) {
      await this.#answerTo({kind: 'drain'});
      this.#addWaiting();
    }
    return await this.#answerTo(question);
  }

  async #answerTo(question: ReaderQuestion): Promise<ReaderAnswer> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#questionsAsked += 1;
    const id = this.#questionsAsked;
    // The process must not end before the answer.
    this.#worker.ref();
    return await new Promise((resolve, reject) => {
      this.#questions.set(id, {resolve, reject});
      this.#send({...question, id});
    });
  }

  #receive(message: ReaderMessage): void {
    if (message.kind === 'lines') {
      const {buffer, byteOffset, byteLength} = message.bytes;
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      let at = 0;
      for (const length of message.lengths) this.#options.write(bytes.subarray(at, (at += length)));
    } else if (message.kind === 'unreadable') {
      this.#taps.get(message.connection)?.fail();
      this.#options.onUnreadable(message.message);
    } else {
      this.#questions.get(message.id)?.resolve(message.answer);
      this.#questions.delete(message.id);
      if (this.#questions.size === 0) this.#worker.unref();
    }
  }

  #fail(reason: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = new SystemError(`reading the calls failed: ${reason}`, {
      hint: 'record again; with --max-message=16Ki it needs less memory',
    });
    for (const {reject} of this.#questions.values()) reject(this.#failure);
    this.#questions.clear();
    this.#overflow = [];
    this.#options.onFailure(this.#failure);
  }

  /** Returns the counts of all that was relayed; the last ones after the end or a failure. */
  async summarize(): Promise<readonly MethodSummary[]> {
    if (!this.#isFinished && this.#failure === undefined)
      this.#last = (await this.#ask({kind: 'summarize'})).methods;
    return this.#last;
  }

  /** Makes the lines of all that was relayed, and ends the thread. Rejects with SystemError if it has failed. */
  async end(): Promise<void> {
    if (this.#isFinished) return;
    try {
      this.#last = (await this.#ask({kind: 'finish'})).methods;
    } finally {
      this.#isFinished = true;
      await this.#worker.terminate();
    }
  }
}

interface ThreadTapOptions {
  readonly put: (kind: EntryKind, chunk: Buffer) => void;
  readonly hasOpenCalls: () => Promise<boolean>;
}

const NOTHING = Buffer.alloc(0);

/** Tap of a connection that is read in a thread. */
class ThreadTap implements RelayTap {
  readonly #options: ThreadTapOptions;
  readonly #boundary = new FrameBoundary();
  readonly replacesUrls = false;
  readonly awaitsUrl = false;
  readonly hasIncompleteUrl = false;
  #isClosed = false;
  #isReadable = true;

  constructor(options: ThreadTapOptions) {
    this.#options = options;
  }

  read(from: Side, chunk: Buffer): void {
    if (!this.#isReadable) return;
    if (from === 'server') this.#boundary.pass(chunk);
    this.#options.put(ENTRY[from], chunk);
  }

  close(): void {
    if (!this.#isClosed) this.#options.put(ENTRY.close, NOTHING);
    this.#isClosed = true;
  }

  /** Ends reading: what is sent is not HTTP/2. */
  fail(): void {
    this.#isReadable = false;
  }

  abandonUrls(): void {
    // No URL is replaced.
  }

  get isBetweenFrames(): boolean {
    return this.#isReadable && this.#boundary.isBetweenFrames;
  }

  async hasOpenUnaryCalls(): Promise<boolean> {
    return await this.#options.hasOpenCalls();
  }
}
