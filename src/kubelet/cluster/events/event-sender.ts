import {pause} from '../../../base/async/pause.js';
import {AsyncQueue} from '../../../base/async/async-queue.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {
  ApiError,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  type ApiClient,
} from '../../../kube-api/index.js';
import type {StartGate} from '../start-gate.js';
import {EventCorrelator, type ApiEvent, type CorrelatedEvent} from './event-correlator.js';
import type {ObjectEvent} from './object-event.js';

/** Options of {@link EventSender}. */
export interface EventSenderOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Number of events that wait to be sent (maxQueuedEvents). */
const CAPACITY = 1000;
/** Number of tries for an event while the server cannot be reached, and the time between them, in ms. */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

/** Sends the events of pods and of the node to the API server in their order (client-go's event broadcaster). */
export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #logger: FileLogger;
  readonly #correlator: EventCorrelator;
  readonly #queue = new AsyncQueue<{readonly event: ObjectEvent; readonly at: number}>(CAPACITY);

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('event-sender.ts');
    const {nodeName, clock, random} = options;
    this.#correlator = new EventCorrelator({host: nodeName, clock, random});
  }

  /** Queues an event; it is dropped if too many wait. */
  event(event: ObjectEvent): void {
    this.#queue.push({event, at: this.#options.clock.now()});
  }

  /** Sends events when the gate is open, until the signal aborts, then rejects with its reason. */
  async run(gate: Pick<StartGate, 'whenOpen'>, signal: AbortSignal): Promise<never> {
    for (;;) {
      const {event, at} = await this.#queue.next(signal);
      const correlated = this.#correlator.correlate(event, at);
      if (correlated === undefined) continue;
      await gate.whenOpen(signal);
      await this.#send(correlated, signal);
    }
  }

  /** Sends an event. One that the server refuses is dropped; without a connection it is tried again (recordToSink). */
  async #send(correlated: CorrelatedEvent, signal: AbortSignal): Promise<void> {
    const {clock, random} = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#sendOnce(correlated, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (this.#isFinal(error, tries, correlated.event)) return;
      }
      // Nodes that lost the API server together do not return to it together.
      const share = tries === 1 ? random() / 2 ** 32 : 1;
      await pause(clock, RETRY_MS * share, signal);
    }
  }

  /** Logs that an event could not be sent. Returns true if it must not be sent again. */
  #isFinal(error: unknown, tries: number, {reason, metadata}: ApiEvent): boolean {
    const fields = {event: `${metadata.namespace}/${metadata.name}`, reason};
    if (isAlreadyExists(error) || isNamespaceTerminating(error)) {
      this.#logger.info('Server rejected event (will not retry!)', {...fields, err: messageOf(error)}, 5);
      return true;
    }
    if (error instanceof ApiError) {
      this.#logger.error(error, 'Server rejected event (will not retry!)', fields);
      return true;
    }
    this.#logger.error(error, 'Unable to write event (may retry after sleeping)', fields);
    if (tries < MAX_TRIES) return false;
    this.#logger.error(undefined, 'Unable to write event (retry limit exceeded!)', fields);
    return true;
  }

  async #sendOnce({event, patch}: CorrelatedEvent, signal: AbortSignal): Promise<void> {
    const {client} = this.#options;
    const path = `/api/v1/namespaces/${event.metadata.namespace}/events`;
    if (patch !== undefined) {
      try {
        await client.request({method: 'PATCH', path: `${path}/${event.metadata.name}`, body: patch}, signal);
        return;
      } catch (error) {
        // The server keeps events for an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.request({method: 'POST', path, body: event}, signal);
  }
}
