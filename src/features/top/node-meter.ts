import {cpus, hostname} from 'node:os';
import type {Clock} from '../../base/clock.js';
import {isSystemCallError} from '../../base/errors.js';
import {readNodeUsage, type NodeUsage} from '../../kubelet/index.js';
import type {NodeUsageView} from './model/node-usage-view.js';

/** Measures the CPU and memory usage of this machine between two calls. */
export class NodeMeter {
  readonly #clock: Clock;
  readonly #cores = cpus().length;
  #before: NodeUsage | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the node without its usage. */
  get unknown(): NodeUsageView {
    return {
      name: hostname(),
      cores: this.#cores,
      cpuPercent: undefined,
      memoryBytes: undefined,
      memoryTotalBytes: undefined,
    };
  }

  /** Returns the usage since the last call; of memory, what cannot be reclaimed. */
  measure(): NodeUsageView {
    const usage = readUsage(this.#clock.now());
    if (usage === undefined) return this.unknown;
    const before = this.#before;
    this.#before = usage;
    return {
      ...this.unknown,
      cpuPercent: before === undefined ? undefined : this.#percent(before, usage),
      memoryBytes: Number(usage.workingSetBytes),
      memoryTotalBytes: Number(usage.memoryBytes),
    };
  }

  #percent(before: NodeUsage, after: NodeUsage): number | undefined {
    const passed = Number(after.timeNanos - before.timeNanos) * this.#cores;
    if (passed <= 0) return undefined;
    // The counters are read a moment before the clock.
    return Math.min((Number(after.cpuNanos - before.cpuNanos) / passed) * 100, 100);
  }
}

function readUsage(nowMs: number): NodeUsage | undefined {
  try {
    return readNodeUsage(nowMs);
  } catch (error) {
    // In a container /proc may be incomplete.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
