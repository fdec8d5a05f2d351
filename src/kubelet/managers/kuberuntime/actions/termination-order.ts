import {sidecarsOf} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Clock} from '../../../../base/clock.js';
import {finishesWithin} from '../../../../base/async/deadline.js';

/**
 * Returns for each sidecar the containers that must exit before it is stopped: all containers of the pod and the next
 * sidecar. Other containers wait for none (newTerminationOrdering).
 */
export function terminationPrerequisites(pod: Pod): ReadonlyMap<string, readonly string[]> {
  const main = pod.spec.containers.map(({name}) => name);
  const sidecars = sidecarsOf(pod).map(({name}) => name);
  return new Map(sidecars.map((name, index) => [name, [...main, ...sidecars.slice(index + 1, index + 2)]]));
}

/** Exit of a container that others wait for. */
interface Exit {
  readonly happened: Promise<void>;
  readonly announce: () => void;
}

/** Order in which the running containers of a pod are stopped: sidecars last, in reverse (terminationOrdering). */
export class TerminationOrder {
  readonly #prerequisites: ReadonlyMap<string, readonly string[]>;
  readonly #running: ReadonlyMap<string, Exit>;
  readonly #clock: Clock;

  constructor(pod: Pod, running: readonly string[], clock: Clock) {
    this.#prerequisites = terminationPrerequisites(pod);
    this.#running = new Map(running.map((name) => [name, createExit()]));
    this.#clock = clock;
  }

  /** Records that a container has exited. Must be called for each container. */
  containerTerminated(name: string): void {
    this.#running.get(name)?.announce();
  }

  /**
   * Resolves when all containers that must exit before `name` have exited, at the latest after `seconds`. Containers
   * that did not run are ignored. Rejects with the signal's reason.
   */
  async waitForTurn(name: string, seconds: number, signal: AbortSignal): Promise<void> {
    const names = this.#prerequisites.get(name) ?? [];
    const all = Promise.all(names.flatMap((each) => this.#running.get(each)?.happened ?? []));
    await finishesWithin(all, seconds * 1000, this.#clock, signal);
  }
}

function createExit(): Exit {
  let announce: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return {happened, announce};
}
