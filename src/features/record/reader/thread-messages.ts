import type {MethodSummary} from '../../../recording/lines/call-summary.js';
import type {RingMemory} from '../../../recording/tap/byte-ring.js';
import type {MaskOptions} from '../mask-messages.js';

/** Data that a reader's thread is started with. */
export interface ReaderThreadData {
  readonly memory: RingMemory;
  /** True to make lines, and not only to count. */
  readonly makesLines: boolean;
  readonly maxMessageBytes: number;
  readonly budgetBytes: number;
  readonly mask: MaskOptions;
}

/** Question to the thread. `finish` makes lines of the calls that have not ended; `drain` asks only whether all is read. */
export type ReaderQuestion =
  | {readonly kind: 'drain' | 'summarize' | 'finish'}
  | {readonly kind: 'has open calls'; readonly connection: number};

/** Message to the thread: to read what is in the ring and, with a number, to answer a question after that. */
export type ReaderRequest = {readonly kind: 'read'} | (ReaderQuestion & {readonly id: number});

/** Message of the thread. Lines are joined, without line breaks; `lengths` are theirs. */
export type ReaderMessage =
  | {readonly kind: 'lines'; readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: readonly number[]}
  | {readonly kind: 'unreadable'; readonly connection: number; readonly message: string}
  | {readonly kind: 'answer'; readonly id: number; readonly answer: ReaderAnswer};

/** Answer to a question. */
export interface ReaderAnswer {
  readonly methods: readonly MethodSummary[];
  /** True if the connection of the question has calls that have not ended, other than streams. */
  readonly hasOpenCalls: boolean;
}
