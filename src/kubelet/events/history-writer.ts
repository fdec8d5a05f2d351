import type {Occurrence} from './recorded-event.js';

/** Where a pod's history goes. Each may reject. */
export interface HistoryPlace<Status> {
  /** Adds to the events that are kept; false when there is nothing to add to. */
  readonly add: (occurrences: readonly Occurrence[]) => Promise<boolean>;
  /** Makes one of the events that are kept and these. */
  readonly merge: (occurrences: readonly Occurrence[]) => Promise<void>;
  readonly writeStatus: (known: Status) => Promise<void>;
  /** Told when writing begins to fail, and again when it does so after all had been written. */
  readonly onFailure: (error: unknown) => void;
}

/** So many events are added before they are merged: what bounds the file, and makes most writes short. */
export const MAX_ADDED = 100;
/** So many events wait at most while they can't be written. */
const MAX_WAITING = 100;

/**
 * Writes one pod's history, one thing after the other: what comes while a write is under way goes together into the
 * next one, and of several statuses only the last is written.
 */
export class HistoryWriter<Status extends object> {
  readonly #place: HistoryPlace<Status>;
  #events: readonly Occurrence[] = [];
  #status: Status | undefined;
  /** How many events may yet be added; none before the first merge, since another process may have been killed. */
  #room = 0;
  #isDue = false;
  #isFailing = false;
  #writing: Promise<void> | undefined;

  constructor(place: HistoryPlace<Status>) {
    this.#place = place;
  }

  event(occurrence: Occurrence): void {
    this.#events = [...this.#events, occurrence].slice(-MAX_WAITING);
    this.#wake();
  }

  status(known: Status): void {
    this.#status = known;
    this.#wake();
  }

  /** Resolves when all is written, or couldn't be once more. */
  async settled(): Promise<void> {
    await this.#writing;
    if (this.#isFailing) this.#wake();
    await this.#writing;
  }

  #wake(): void {
    this.#isDue = true;
    this.#writing ??= this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    // What is said in the same turn is written together.
    await Promise.resolve();
    while (this.#isDue) {
      this.#isDue = false;
      const failures = [
        await failureOf(() => this.#writeEvents()),
        await failureOf(() => this.#writeStatus()),
      ];
      const failure = failures.find((each) => each !== undefined);
      if (failure !== undefined && !this.#isFailing) this.#place.onFailure(failure.error);
      this.#isFailing = failure !== undefined;
    }
    this.#writing = undefined;
  }

  async #writeEvents(): Promise<void> {
    const events = this.#events;
    if (events.length === 0) return;
    this.#events = [];
    const {add, merge} = this.#place;
    const room = this.#room - events.length;
    // Until it has succeeded: what fails may have left anything.
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
    // A newer one may have come meanwhile.
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
