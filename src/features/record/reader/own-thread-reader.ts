import {CallRecorder} from '../../../recording/lines/call-recorder.js';
import {CallSummary, type MethodSummary} from '../../../recording/lines/call-summary.js';
import {
  ConnectionTap,
  type CallSink,
  type TapClock,
  type TapOptions,
  type TappedCall,
} from '../../../recording/tap/connection-tap.js';
import {IdleQueue} from '../../../recording/tap/idle-queue.js';
import type {CollectorLimits} from '../../../recording/tap/message-collector.js';
import type {RelayTap} from '../../../recording/tap/relay-tap.js';
import {createMessageMask, type MaskOptions} from '../mask-messages.js';
import type {CallReader} from './call-reader.js';
import {joinSinks} from './join-sinks.js';

/** Options of an OwnThreadReader. */
export interface OwnThreadReaderOptions {
  readonly clock: TapClock;
  readonly limits: CollectorLimits;
  readonly mask: MaskOptions;
  /** Receives each line, without its line break; undefined to make none. */
  readonly write: ((line: Buffer) => void) | undefined;
}

/** Reads what is relayed in the thread that relays, when nothing is being relayed; at once if URLs have to be replaced. */
export class OwnThreadReader implements CallReader {
  readonly queue: IdleQueue;
  readonly #limits: CollectorLimits;
  readonly #summary = new CallSummary();
  readonly #recorder: CallRecorder | undefined;
  readonly #sink: CallSink;
  #last: readonly MethodSummary[] | undefined;

  constructor({clock, limits, mask, write}: OwnThreadReaderOptions) {
    this.queue = new IdleQueue(clock);
    this.#limits = limits;
    const recording = {limits, mask: createMessageMask(mask), queue: this.queue};
    this.#recorder = write && new CallRecorder({...recording, write});
    this.#sink = this.#recorder === undefined ? this.#summary : joinSinks(this.#summary, this.#recorder);
  }

  open(connection: number, urlOf: TapOptions['urlOf']): RelayTap {
    return new ConnectionTap(connection, {
      sink: this.#sink,
      limits: this.#limits,
      clock: this.queue.clock,
      urlOf,
    });
  }

  /** Returns the number of a call that has not ended; undefined without lines. */
  numberOf(call: TappedCall): number | undefined {
    return this.#recorder?.numberOf(call);
  }

  async summarize(): Promise<readonly MethodSummary[]> {
    this.queue.finish();
    return this.#last ?? this.#summary.methods();
  }

  async end(): Promise<void> {
    this.queue.finish();
    this.#recorder?.finish();
    this.#last ??= this.#summary.methods();
  }
}
