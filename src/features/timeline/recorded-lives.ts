import type {PhaseName} from './phase.js';
import type {ContainerEnd, RecordedContainers} from './recorded-containers.js';

/** A call of a recording that is a phase. Times are in ms since the epoch. */
export interface RecordedStep {
  readonly name: PhaseName;
  readonly startMs: number;
  readonly endMs: number | undefined;
  readonly isOk: boolean;
  /** Container and sandbox that it is about, or that it has created; empty without one. */
  readonly containerId: string;
  readonly sandboxId: string;
  /** Name of the container. */
  readonly container: string | undefined;
}

/** An instance of a container that a recording has started. */
export interface RecordedLife {
  readonly container: string;
  readonly startMs: number;
  readonly end: ContainerEnd | undefined;
  /** True if the client had waited for its end before it continued with the pod. */
  readonly isInit: boolean;
  /** Creation of the next instance, if there was a wait for it. */
  readonly nextMs?: number;
}

interface OpenLife {
  readonly id: string;
  readonly sandboxId: string;
  readonly container: string;
  readonly startMs: number;
  limit?: ContainerEnd;
  nextMs?: number;
}

/** Returns the instances of containers that the calls of a pod, by their starts, have started. Pure. */
export function recordedLives(
  steps: readonly RecordedStep[],
  containers: RecordedContainers,
): readonly RecordedLife[] {
  const pod = new PodLives(containers);
  for (const step of steps) pod.add(step);
  return pod.lives();
}

/** Follows which containers of a pod run, call by call. */
class PodLives {
  readonly #containers: RecordedContainers;
  /** Instances by their starts. */
  readonly #all: OpenLife[] = [];
  /** Instances of which no later call says that they have ended, by sandbox and ID. */
  readonly #open = new Map<string, Map<string, OpenLife>>();
  /** Last instance of each name. */
  readonly #last = new Map<string, OpenLife>();
  readonly #created = new Set<string>();
  readonly #inits = new Set<string>();
  /** Instance that was started last, and the start of the pull that followed. */
  #started: OpenLife | undefined;
  #continuedMs: number | undefined;

  constructor(containers: RecordedContainers) {
    this.#containers = containers;
  }

  add(step: RecordedStep): void {
    const {name, startMs, isOk} = step;
    if (name === 'pull') this.#continuedMs ??= startMs;
    if (name === 'sandbox')
      for (const sandbox of [...this.#open.keys()])
        this.#endAll(sandbox, startMs, 'until the next sandbox of the pod was made');
    if (name === 'create') this.#create(step);
    if (name === 'start') this.#start(step);
    if (isOk) this.#limit(step);
  }

  /** Ends the instances that a call has stopped, or without whose end it would have failed. */
  #limit({name, containerId, sandboxId, startMs, endMs = startMs}: RecordedStep): void {
    if (name === 'remove') this.#end(sandboxId, containerId, startMs, 'until its removal');
    if (containerId !== '') return;
    if (name === 'stop') this.#endAll(sandboxId, endMs, 'until its sandbox was stopped');
    if (name === 'remove') this.#endAll(sandboxId, startMs, 'until its sandbox was removed');
  }

  #create({container = '', sandboxId, startMs}: RecordedStep): void {
    const key = keyOf(sandboxId, container);
    const started = this.#started;
    if (started?.sandboxId === sandboxId && !this.#created.has(key)) {
      if (this.#containers.hadSucceeded(started.id, this.#continuedMs ?? startMs))
        this.#inits.add(keyOf(sandboxId, started.container));
      this.#started = undefined;
    }
    this.#created.add(key);
    const last = this.#last.get(container);
    if (last === undefined) return;
    // A container in another sandbox was not in back-off: it waited for the sandbox.
    if (last.sandboxId === sandboxId) last.nextMs ??= startMs;
    this.#end(last.sandboxId, last.id, startMs, 'until the creation of its next instance');
  }

  #start({container, containerId, sandboxId, endMs, isOk}: RecordedStep): void {
    if (!isOk || endMs === undefined || container === undefined) return;
    const life = {id: containerId, sandboxId, container, startMs: endMs};
    this.#all.push(life);
    const open = this.#open.get(sandboxId) ?? new Map<string, OpenLife>();
    this.#open.set(sandboxId, open.set(containerId, life));
    this.#last.set(container, life);
    this.#started = life;
    this.#continuedMs = undefined;
  }

  #end(sandboxId: string, containerId: string, atMs: number, inferred: string): void {
    const open = this.#open.get(sandboxId);
    const life = open?.get(containerId);
    if (life !== undefined) life.limit = {atMs, inferred};
    open?.delete(containerId);
  }

  #endAll(sandboxId: string, atMs: number, inferred: string): void {
    for (const life of this.#open.get(sandboxId)?.values() ?? []) life.limit = {atMs, inferred};
    this.#open.delete(sandboxId);
  }

  lives(): readonly RecordedLife[] {
    return this.#all.map(({id, sandboxId, container, startMs, limit, nextMs}) => {
      const end = this.#containers.endOf(id, limit);
      const isInit = this.#inits.has(keyOf(sandboxId, container));
      return {container, startMs, end, isInit, ...(nextMs !== undefined && {nextMs})};
    });
  }
}

const keyOf = (sandboxId: string, container: string): string => JSON.stringify([sandboxId, container]);
