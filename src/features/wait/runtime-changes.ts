import type {WakeableSleep} from '../../base/async/wakeable-sleep.js';
import type {RuntimeService} from '../../cri/index.js';

/** Wakes the sleep at every event of the runtime until the signal aborts. Ends early if the runtime sends no events. */
export async function wakeOnEvents(
  runtime: Pick<RuntimeService, 'getContainerEvents'>,
  sleep: WakeableSleep,
  signal: AbortSignal,
): Promise<void> {
  try {
    const events = runtime.getContainerEvents({}, {signal})[Symbol.asyncIterator]();
    while ((await events.next()).done !== true) sleep.wake();
  } catch {
    // Polling finds every change later.
  }
}
