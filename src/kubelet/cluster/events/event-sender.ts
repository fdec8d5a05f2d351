import {AsyncQueue} from '../../../base/async/async-queue.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {ApiError, isNotFound, type ApiClient} from '../../../kube-api/index.js';
import type {StartGate} from '../start-gate.js';
import {EventCorrelator, type CorrelatedEvent} from './event-correlator.js';
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
  readonly #queue = new AsyncQueue<ObjectEvent>(CAPACITY);

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('event-sender.ts');
    this.#correlator = new EventCorrelator(options.nodeName, options.clock);
  }

  /** Queues an event; it is dropped if too many wait. */
  event(event: ObjectEvent): void {
    this.#queue.push(event);
  }

  /** Sends events when the gate is open, until the signal aborts, then rejects with its reason. */
  async run(gate: Pick<StartGate, 'whenOpen'>, signal: AbortSignal): Promise<never> {
    for (;;) {
      const correlated = this.#correlator.correlate(await this.#queue.next(signal));
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
        const {reason, metadata} = correlated.event;
        const isLast = error instanceof ApiError || tries === MAX_TRIES;
        const fields = {event: `${metadata.namespace}/${metadata.name}`, reason};
        const message = isLast ? 'Unable to write event' : 'Unable to write event (may retry after sleeping)';
        this.#logger.error(error, message, fields);
        if (isLast) return;
      }
      // Nodes that lost the API server together do not return to it together.
      const share = tries === 1 ? random() / 2 ** 32 : 1;
      await clock.sleep(RETRY_MS * share, signal);
    }
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
