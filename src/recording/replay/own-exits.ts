import {stringAt} from '../../base/string-at.js';
import type {JsonObject} from '../../format/json.js';

const NS_PER_MS = 1e6;

/**
 * Knows which containers of a replay have ended by themselves, and how long they ran. All IDs are those of the recording.
 */
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

  /** Adds that a container or a sandbox is about to be stopped or removed. */
  stopping(id: string, nowMs: number): void {
    if (!this.#stops.has(id)) this.#stops.set(id, nowMs);
  }

  /** Adds a status of a container in proto JSON. One that has not exited is ignored. */
  learn(containerId: string, status: unknown): void {
    if (stringAt(status, 'state') !== 'CONTAINER_EXITED') return;
    const [startedMs, finishedMs] = [timeAt(status, 'startedAt'), timeAt(status, 'finishedAt')];
    const sandbox = this.#sandboxes.get(containerId) ?? '';
    const stops = [containerId, sandbox].map((id) => this.#stops.get(id) ?? Infinity);
    const isOwn = startedMs > 0 && finishedMs < Math.min(...stops);
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
  const containers = list?.['containers'];
  if (!Array.isArray(containers)) return [];
  return (containers as readonly unknown[]).flatMap((each) =>
    stringAt(each, 'state') === 'CONTAINER_EXITED' ? [stringAt(each, 'id') ?? ''] : [],
  );
}

/** Returns a time in ms since the epoch; 0 without one. */
function timeAt(status: unknown, name: string): number {
  return Number(stringAt(status, name) ?? 0) / NS_PER_MS;
}
