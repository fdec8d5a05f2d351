import {listAt, stringAt, valueAt} from '../../base/string-at.js';
import {fromNanoseconds, type RecordedTimes} from '../../recording/lines/call-times.js';
import type {JsonObject} from '../../format/json.js';

/** Container of a recording. */
export interface RecordedContainer {
  readonly sandboxId: string;
  readonly name: string;
}

/** End of a container. */
export interface ContainerEnd {
  readonly atMs: number;
  readonly exitCode?: number;
  /** Source that it was concluded from; absent if it was measured. */
  readonly inferred?: string;
}

const EXITED = 'CONTAINER_EXITED';

/** Collects from answers and events of a recording which containers there are, and when they ended. */
export class RecordedContainers {
  readonly #containers = new Map<string, RecordedContainer>();
  /** Ends by the first event, which has the clock of the recorder, and by statuses. */
  readonly #events = new Map<string, number>();
  readonly #statuses = new Map<string, Omit<ContainerEnd, 'inferred'>>();
  /** Ends of the first StopContainer. */
  readonly #stops = new Map<string, number>();
  /** Times at which the client was first given the end of a container. */
  readonly #seen = new Map<string, number>();

  /** Learns from the line of a call or of a message of a stream. */
  learn(line: JsonObject, {startMs, endMs = startMs}: RecordedTimes): void {
    const {method, request, response, message} = line;
    if (method === 'CreateContainer')
      this.#add(stringAt(response, 'containerId'), {
        sandboxId: stringAt(request, 'podSandboxId') ?? '',
        name: stringAt(request, 'config', 'metadata', 'name') ?? '',
      });
    if (method === 'StopContainer' && line['code'] === 'OK')
      earliest(this.#stops, stringAt(request, 'containerId'), endMs);
    if (method === 'ListContainers')
      for (const item of listAt(response, 'containers')) this.#learnListed(item, endMs);
    if (method === 'ContainerStatus') this.#learnStatus(valueAt(response, 'status'), endMs);
    if (method === 'PodSandboxStatus') this.#learnStatuses(response, endMs);
    if (message !== undefined) this.#learnEvent(message, startMs);
  }

  #learnListed(item: unknown, ms: number): void {
    const id = stringAt(item, 'id');
    const sandboxId = stringAt(item, 'podSandboxId') ?? '';
    this.#add(id, {sandboxId, name: stringAt(item, 'metadata', 'name') ?? ''});
    if (stringAt(item, 'state') === EXITED) earliest(this.#seen, id, ms);
  }

  #learnStatuses(response: unknown, ms: number): void {
    for (const status of listAt(response, 'containersStatuses')) this.#learnStatus(status, ms);
  }

  #learnStatus(status: unknown, ms: number): void {
    const id = stringAt(status, 'id');
    if (id === undefined || stringAt(status, 'state') !== EXITED) return;
    earliest(this.#seen, id, ms);
    const atMs = fromNanoseconds(valueAt(status, 'finishedAt'));
    const exitCode = valueAt(status, 'exitCode') ?? 0;
    if (atMs !== undefined && !this.#statuses.has(id))
      this.#statuses.set(id, {atMs, ...(typeof exitCode === 'number' && {exitCode})});
  }

  #learnEvent(message: unknown, ms: number): void {
    this.#learnStatuses(message, ms);
    if (stringAt(message, 'containerEventType') !== 'CONTAINER_STOPPED_EVENT') return;
    const id = stringAt(message, 'containerId');
    earliest(this.#events, id, ms);
    earliest(this.#seen, id, ms);
  }

  #add(id: string | undefined, container: RecordedContainer): void {
    if (id !== undefined && container.name !== '') this.#containers.set(id, container);
  }

  get(id: string): RecordedContainer | undefined {
    return this.#containers.get(id);
  }

  /** Reports whether the client knew at that time that a container had ended without a failure. */
  hadSucceeded(id: string, ms: number): boolean {
    return (this.#seen.get(id) ?? Infinity) <= ms && (this.#statuses.get(id)?.exitCode ?? 0) === 0;
  }

  /** Returns the end of a container: what an event or a status says, or else the first time at which it must have ended. */
  endOf(id: string, limit: ContainerEnd | undefined): ContainerEnd | undefined {
    const status = this.#statuses.get(id);
    const event = this.#events.get(id);
    if (event !== undefined) return {...status, atMs: event};
    if (status !== undefined) return status;
    const [stop, seen] = [this.#stops.get(id), this.#seen.get(id)];
    const ends: readonly ContainerEnd[] = [
      ...(stop === undefined ? [] : [{atMs: stop}]),
      ...(seen === undefined ? [] : [{atMs: seen, inferred: 'until the first answer in which it had ended'}]),
      ...(limit === undefined ? [] : [limit]),
    ];
    return ends.toSorted((a, b) => a.atMs - b.atMs)[0];
  }
}

function earliest(times: Map<string, number>, id: string | undefined, ms: number): void {
  if (id !== undefined) times.set(id, Math.min(times.get(id) ?? Infinity, ms));
}
