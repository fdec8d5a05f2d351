import type {ContainerId, PodSandboxId, RuntimeService} from '../cri/index.js';
import {withContext} from './with-context.js';

/** How a container is stopped; `shown` is what the user called it. */
export interface StopOptions {
  readonly shown: string;
  /** Seconds from SIGTERM to SIGKILL; 0 kills at once. */
  readonly gracePeriodSeconds: number;
  readonly signal: AbortSignal;
}

/** Stops a container. Its call may take the grace period longer than others. */
export async function stopContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, gracePeriodSeconds, signal}: StopOptions,
): Promise<void> {
  const request = {containerId, timeout: BigInt(gracePeriodSeconds)};
  await withContext(`stopping the container "${shown}"`, runtime.stopContainer(request, {signal}));
}

/** Stops a sandbox and everything in it. */
export async function stopSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {shown, signal}: Pick<StopOptions, 'shown' | 'signal'>,
): Promise<void> {
  await withContext(`stopping the pod sandbox "${shown}"`, runtime.stopPodSandbox({podSandboxId}, {signal}));
}
