import {BackgroundWriter, type BackgroundWriterOptions} from '../../../base/async/background-writer.js';
import type {Occurrence} from './recorded-event.js';

/** Storage of a pod's history. Its functions that write may reject. */
export interface HistoryStorage<Status> extends Omit<BackgroundWriterOptions, 'write'> {
  /** Appends to the stored events; resolves with false if the file does not exist. */
  readonly add: (occurrences: readonly Occurrence[]) => Promise<boolean>;
  /** Merges these occurrences into the stored events. */
  readonly merge: (occurrences: readonly Occurrence[]) => Promise<void>;
  readonly writeStatus: (known: Status) => Promise<void>;
}

/** Maximum number of events appended before a merge: limits the file size, and most writes are short. */
export const MAX_ADDED = 100;
/** Maximum number of events that wait while writes fail; the oldest are dropped. */
const MAX_WAITING = 100;

/**
 * Writes the history of one pod in order. Events that arrive during a write, or before it is time for the next one, are written
 * together in the next one, and only the newest status is written.
 */
export class HistoryWriter<Status extends object> {
  readonly #place: HistoryStorage<Status>;
  #events: readonly Occurrence[] = [];
  #status: Status | undefined;
  /**
   * Number of events that can be appended before the next merge; 0 at first, since a killed process may have left a
   * partial write.
   */
  #room = 0;
  readonly #writer: BackgroundWriter;

  constructor(place: HistoryStorage<Status>) {
    this.#place = place;
    const write = async (): Promise<void> => this.#write();
    this.#writer = new BackgroundWriter({...place, write});
  }

  event(occurrence: Occurrence): void {
    this.#events = [...this.#events, occurrence].slice(-MAX_WAITING);
    this.#writer.wake();
  }

  /** Writes a status; one that is urgent at once, with all that waits. */
  status(known: Status, isUrgent = false): void {
    this.#status = known;
    this.#writer.wake();
    if (isUrgent) this.#writer.hurry();
  }

  /** Drops all that waits. Resolves when nothing is being written. */
  async discard(): Promise<void> {
    await this.#writer.cancel();
    this.#events = [];
    this.#status = undefined;
  }

  /** Resolves when all is written or a retry has failed. */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  /** Writes events and status, each whether or not the other can be written. Rejects with the first error. */
  async #write(): Promise<void> {
    const failures = [await failureOf(() => this.#writeEvents()), await failureOf(() => this.#writeStatus())];
    const failure = failures.find((each) => each !== undefined);
    if (failure !== undefined) throw failure.error;
  }

  async #writeEvents(): Promise<void> {
    const events = this.#events;
    if (events.length === 0) return;
    this.#events = [];
    const {add, merge} = this.#place;
    const room = this.#room - events.length;
    // A failed write may leave the file in any state: the next write is then a merge.
    this.#room = 0;
    try {
      if (room >= 0 && (await add(events))) this.#room = room;
      else {
        await merge(events);
        this.#room = MAX_ADDED;
      }
    } catch (error) {
      this.#events = [...events, ...this.#events].slice(-MAX_WAITING);
      throw error;
    }
  }

  async #writeStatus(): Promise<void> {
    const status = this.#status;
    if (status === undefined) return;
    await this.#place.writeStatus(status);
    // A newer status may have arrived during the write.
    if (this.#status === status) this.#status = undefined;
  }
}

async function failureOf(act: () => Promise<void>): Promise<{readonly error: unknown} | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return {error};
  }
}
