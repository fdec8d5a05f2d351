import {isRestartableInit} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import {doneWithin} from '../../base/time-limit.js';

/**
 * Of each sidecar the containers that have to end before it: the pod's containers, and the next sidecar. The others
 * wait for none (newTerminationOrdering).
 */
export function terminationPrerequisites({spec}: Pod): ReadonlyMap<string, readonly string[]> {
  const main = spec.containers.map(({name}) => name);
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInit).map(({name}) => name);
  return new Map(sidecars.map((name, index) => [name, [...main, ...sidecars.slice(index + 1, index + 2)]]));
}

/** One end that others wait for. */
interface Ending {
  readonly happened: Promise<void>;
  readonly announce: () => void;
}

/** Has the running containers of a pod end one after the other: sidecars last, in reverse. */
export class TerminationOrder {
  readonly #prerequisites: ReadonlyMap<string, readonly string[]>;
  readonly #running: ReadonlyMap<string, Ending>;
  readonly #clock: Clock;

  constructor(pod: Pod, running: readonly string[], clock: Clock) {
    this.#prerequisites = terminationPrerequisites(pod);
    this.#running = new Map(running.map((name) => [name, ending()]));
    this.#clock = clock;
  }

  /** To be called when a container has ended. */
  ended(name: string): void {
    this.#running.get(name)?.announce();
  }

  /**
   * Waits until all that a container waits for has ended, or the seconds are over; what doesn't run has ended. Rejects
   * with the signal's reason.
   */
  async turn(name: string, seconds: number, signal: AbortSignal): Promise<void> {
    const names = this.#prerequisites.get(name) ?? [];
    const all = Promise.all(names.flatMap((each) => this.#running.get(each)?.happened ?? []));
    await doneWithin(all, seconds * 1000, this.#clock, signal);
  }
}

function ending(): Ending {
  let announce: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return {happened, announce};
}
