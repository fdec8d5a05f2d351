import {KcriError} from '../base/errors.js';
import type {ContainerId, PodSandboxId, RuntimeService} from '../cri/index.js';
import {withContext} from './with-context.js';

/** How a container is stopped; `shown` is what the user called it. */
export interface StopOptions {
  readonly shown: string;
  /** Seconds from SIGTERM to SIGKILL; 0 kills at once. */
  readonly gracePeriodSeconds: number;
  readonly signal: AbortSignal;
}

/** An id has no letters: a variable of a script was empty, most likely. */
class EmptyIdError extends KcriError {
  readonly code = 'EMPTY_ID';
}

/** Stops a container. Its call may take the grace period longer than others. Throws KcriError. */
export async function stopContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, gracePeriodSeconds, signal}: StopOptions,
): Promise<void> {
  const request = {containerId, timeout: BigInt(gracePeriodSeconds)};
  await withId(`stopping the container "${shown}"`, containerId, () =>
    runtime.stopContainer(request, {signal}),
  );
}

/** Stops a sandbox and everything in it. Throws KcriError. */
export async function stopSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {shown, signal}: Pick<StopOptions, 'shown' | 'signal'>,
): Promise<void> {
  await withId(`stopping the pod sandbox "${shown}"`, podSandboxId, () =>
    runtime.stopPodSandbox({podSandboxId}, {signal}),
  );
}

/** Starts a container that was created. Throws KcriError. */
export async function startContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {shown, signal}: Pick<StopOptions, 'shown' | 'signal'>,
): Promise<void> {
  await withId(`starting the container "${shown}"`, containerId, () =>
    runtime.startContainer({containerId}, {signal}),
  );
}

async function withId<T>(doing: string, id: string, work: () => Promise<T>): Promise<T> {
  const refused = async () => await Promise.reject<T>(new EmptyIdError('ID cannot be empty'));
  return await withContext(doing, id === '' ? refused() : work());
}
