import {runInBackground} from '../base/async/background-work.js';
import {performance} from 'node:perf_hooks';
import {nextIteration} from '../base/async/next-iteration.js';

/** Maximum duration of consecutive tasks, in ms; the event loop does other work in between. */
const SLICE_MS = 10;

/** Schedules a task for a later iteration of the event loop. */
export type Schedule = (task: () => void) => void;

/**
 * Runs tasks in time slices: after each slice, timers and sockets get their turn, so that the number of tasks does not
 * delay the rest of the process. Urgent tasks precede all others.
 */
export class TurnQueue {
  readonly #urgent: (() => void)[] = [];
  readonly #normal: (() => void)[] = [];
  #isRunning = false;

  readonly scheduleUrgent: Schedule = (task) => {
    this.#add(this.#urgent, task);
  };

  readonly schedule: Schedule = (task) => {
    this.#add(this.#normal, task);
  };

  #add(queue: (() => void)[], task: () => void): void {
    queue.push(task);
    if (this.#isRunning) return;
    this.#isRunning = true;
    runInBackground('turn queue', this.#run());
  }

  async #run(): Promise<void> {
    await nextIteration();
    let endsAt = performance.now() + SLICE_MS;
    for (let task = this.#next(); task !== undefined; task = this.#next()) {
      task();
      // The time of the microtasks that the task has queued counts too.
      await microtasksDone();
      if (performance.now() < endsAt) continue;
      await nextIteration();
      endsAt = performance.now() + SLICE_MS;
    }
    this.#isRunning = false;
  }

  #next(): (() => void) | undefined {
    return this.#urgent.shift() ?? this.#normal.shift();
  }
}

async function microtasksDone(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
}
