import type {Clock} from '../../base/clock.js';
import type {ContainerdConnection} from '../../containerd/connect-containerd.js';
import {CriError, isNotFound, type ContainerId} from '../../cri/index.js';
import type {ProcessProbe} from '../../streaming/session/session.js';

/** Pauses between searches for the process, in ms: a runtime starts it within some tens of milliseconds. */
const PAUSES_MS = [0, 10, 20, 40, 80, 160, 320, 640];

/** Options of createExecProbe. */
export interface ExecProbeOptions {
  readonly containerId: ContainerId;
  readonly clock: Clock;
  /** Connects to containerd's own services, which another runtime does not have. */
  readonly connect: () => Promise<ContainerdConnection>;
}

/**
 * Creates a probe of a command with input and without a terminal. The CRI does not tell the ID of its process: it is one
 * of those that run in the container when it is looked for. If several of them remain, their exit codes must be equal.
 */
export function createExecProbe(options: ExecProbeOptions): ProcessProbe {
  return new ExecProbe(options);
}

class ExecProbe implements ProcessProbe {
  readonly #options: ExecProbeOptions;
  readonly #found = new Set<string>();

  constructor(options: ExecProbeOptions) {
    this.#options = options;
  }

  async find(signal: AbortSignal): Promise<void> {
    try {
      for (const pauseMs of PAUSES_MS) {
        await this.#options.clock.sleep(pauseMs, signal);
        await this.#search(signal);
        if (this.#found.size > 0) return;
      }
    } catch (error) {
      // Another runtime, or the session has ended.
      if (!(error instanceof CriError) && !signal.aborted) throw error;
    }
  }

  async exitCode(signal: AbortSignal): Promise<number | undefined> {
    const exitCodes = new Set<number>();
    for (const execId of this.#found) {
      const process = await this.#process(execId, signal);
      if (process === undefined) this.#found.delete(execId);
      else if (process.status !== 'STOPPED') return undefined;
      else exitCodes.add(process.exitStatus);
    }
    return exitCodes.size === 1 ? [...exitCodes][0] : undefined;
  }

  /** Adds the commands of the container that have input and no terminal. */
  async #search(signal: AbortSignal): Promise<void> {
    const {connect, containerId} = this.#options;
    const {tasks} = await connect();
    const {processes} = await tasks.listPids({containerId}, {signal});
    for (const {info} of processes) {
      const execId = info?.value?.execId ?? '';
      if (execId === '' || this.#found.has(execId)) continue;
      const process = await this.#process(execId, signal);
      if (process !== undefined && process.stdin !== '' && !process.terminal) this.#found.add(execId);
    }
  }

  /** Returns a process, or undefined if the runtime has removed it after returning its result. */
  async #process(execId: string, signal: AbortSignal) {
    const {connect, containerId} = this.#options;
    const {tasks} = await connect();
    try {
      const {process} = await tasks.get({containerId, execId}, {signal});
      return process;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
