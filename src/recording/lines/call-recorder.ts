import type {CallEnd, CallSink, Side, TappedCall} from '../tap/connection-tap.js';
import {releaseMessage, type CollectorLimits, type TappedMessage} from '../tap/message-collector.js';
import {LineMaker, type MessageMask} from './call-line.js';
import {methodOf} from '../tap/method-table.js';
import type {IdleQueue} from '../tap/idle-queue.js';

/** Options of a recorder. */
export interface CallRecorderOptions {
  /** Writes a line, without its line break. Must not throw. */
  readonly write: (line: Buffer) => void;
  readonly mask: MessageMask;
  readonly limits: CollectorLimits;
  /** Does the work of making lines. Its clock has the times of the messages of streams. */
  readonly queue: Pick<IdleQueue, 'push' | 'finish' | 'clock'>;
}

interface Recorded {
  readonly id: number;
  readonly call: TappedCall;
  readonly isStream: boolean;
  request: TappedMessage | undefined;
  response: TappedMessage | undefined;
  readonly counts: Record<Side, {messages: number; bytes: number}>;
}

/**
 * Writes a line for each call when it ends, and one for each message of a stream when it arrives. Lines are made when
 * nothing is being relayed; what waits for that counts for the budget of messages.
 */
export class CallRecorder implements CallSink {
  readonly #options: CallRecorderOptions;
  readonly #lines: LineMaker;
  readonly #open = new Map<TappedCall, Recorded>();
  #lastId = 0;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.#lines = new LineMaker(options.mask);
  }

  onStart(call: TappedCall): void {
    this.#lastId += 1;
    this.#open.set(call, {
      id: this.#lastId,
      call,
      isStream: methodOf(call.path).info?.stream === true,
      request: undefined,
      response: undefined,
      counts: {client: {messages: 0, bytes: 0}, server: {messages: 0, bytes: 0}},
    });
  }

  onMessage(call: TappedCall, from: Side, message: TappedMessage): void {
    const recorded = this.#open.get(call);
    if (recorded === undefined) return;
    const count = recorded.counts[from];
    count.messages += 1;
    count.bytes += message.length;
    if (from === 'server' && recorded.isStream) this.#writeMessage(recorded, message);
    else if (from === 'client' && recorded.request === undefined) recorded.request = message;
    else if (from === 'server' && recorded.response === undefined) recorded.response = message;
    else releaseMessage(message, this.#options.limits);
  }

  onEnd(call: TappedCall, end: CallEnd): void {
    const recorded = this.#open.get(call);
    this.#open.delete(call);
    if (recorded !== undefined) this.#writeCall(recorded, end);
  }

  /** Returns the number of a call that has not ended. */
  numberOf(call: TappedCall): number | undefined {
    return this.#open.get(call)?.id;
  }

  #writeMessage(recorded: Recorded, message: TappedMessage): void {
    const {limits, queue, write} = this.#options;
    const nowMs = queue.clock.now();
    queue.push(() => {
      write(this.#lines.message(recorded, message, nowMs));
      releaseMessage(message, limits);
    }, bytesOf(message));
  }

  #writeCall(recorded: Recorded, end: CallEnd | undefined): void {
    const {limits, queue, write} = this.#options;
    const {request, response} = recorded;
    queue.push(
      () => {
        write(this.#lines.call(recorded, end));
        for (const message of [request, response]) if (message !== undefined) releaseMessage(message, limits);
      },
      bytesOf(request) + bytesOf(response),
    );
  }

  /** Writes what waits, and a line for each call that has not ended. */
  finish(): void {
    const {queue} = this.#options;
    queue.finish();
    for (const recorded of this.#open.values()) this.#writeCall(recorded, undefined);
    this.#open.clear();
    queue.finish();
  }
}

function bytesOf(message: TappedMessage | undefined): number {
  return message?.content?.length ?? 0;
}
