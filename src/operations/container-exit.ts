import type {Clock} from '../base/clock.js';
import type {ContainerId, RuntimeService} from '../cri/index.js';

/** A runtime that has closed a container's output may take a moment to know that it has ended. */
const LOOKS = 20;
const PAUSE_MS = 50;

/** The exit code of a container whose output has ended; 0 when it runs on all the same. Rejects with CriError. */
export async function exitCodeOfContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<number> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const {status} = await runtime.containerStatus({containerId}, {signal});
    if (status?.state === 'CONTAINER_EXITED') return status.exitCode;
    await clock.sleep(PAUSE_MS, signal);
  }
  return 0;
}
