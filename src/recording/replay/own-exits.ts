import {listAt, stringAt} from '../../base/string-at.js';
import type {JsonObject} from '../../format/json.js';
import {fromNanoseconds} from '../lines/call-times.js';

/** Record of the containers of a replay that have exited by themselves, with the times for which they ran. All IDs are those of the recording. */
export class OwnExits {
  readonly #sandboxes = new Map<string, string>();
  /** First stop of each container and sandbox, in ms since the epoch. */
  readonly #stops = new Map<string, number>();
  /** Undefined for containers that were stopped. */
  readonly #ranMs = new Map<string, number | undefined>();

  /** Adds a container of a sandbox. */
  created(containerId: string, sandboxId: string): void {
    this.#sandboxes.set(containerId, sandboxId);
  }

  /** Records that a container or a sandbox is about to be stopped or removed. */
  stopping(id: string, nowMs: number): void {
    if (!this.#stops.has(id)) this.#stops.set(id, nowMs);
  }

  /** Reads the exit of a container from its status in proto JSON. Ignores the status of one that has not exited. */
  learn(containerId: string, status: unknown): void {
    if (stringAt(status, 'state') !== 'CONTAINER_EXITED') return;
    const startedMs = fromNanoseconds(stringAt(status, 'startedAt')) ?? Infinity;
    const finishedMs = fromNanoseconds(stringAt(status, 'finishedAt')) ?? Infinity;
    const sandbox = this.#sandboxes.get(containerId) ?? '';
    const stops = [containerId, sandbox].map((id) => this.#stops.get(id) ?? Infinity);
    const isOwn = startedMs < Infinity && finishedMs < Math.min(...stops);
    this.#ranMs.set(containerId, isOwn ? finishedMs - startedMs : undefined);
  }

  /** Reports whether it is known how a container has ended. */
  has(containerId: string): boolean {
    return this.#ranMs.has(containerId);
  }

  /** Returns how long a container ran that has ended by itself, in ms; undefined for others. */
  ranMs(containerId: string): number | undefined {
    return this.#ranMs.get(containerId);
  }
}

/** Returns the IDs of the containers that have exited in a list in proto JSON. */
export function exitedIn(list: JsonObject | undefined): readonly string[] {
  return listAt(list, 'containers').flatMap((each) =>
    stringAt(each, 'state') === 'CONTAINER_EXITED' ? [stringAt(each, 'id') ?? ''] : [],
  );
}
