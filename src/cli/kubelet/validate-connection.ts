import {KcriError} from '../../base/errors.js';
import type {Connection} from '../../cri/index.js';

/** A service of the runtime that a kubelet doesn't start with. */
class ServiceConnectionError extends KcriError {
  readonly code = 'CRI_SERVICE';
  readonly #plain: string;

  constructor(message: string, cause: KcriError) {
    super(`validate service connection: ${message}: ${cause.message}`, {cause, hint: cause.hint});
    this.#plain = cause.plainMessage;
  }

  override get plainMessage(): string {
    return this.#plain;
  }
}

/**
 * Asks both services once, before anything else is done (cri-client validateServiceConnection). Rejects with
 * KcriError when one doesn't answer: a kubelet doesn't wait for its runtime, but ends and is started again.
 */
export async function validateConnection(
  {runtime, images}: Connection,
  {
    endpoint,
    imageEndpoint = endpoint,
  }: {readonly endpoint: string; readonly imageEndpoint?: string | undefined},
  signal: AbortSignal,
): Promise<void> {
  await asked(`validate CRI v1 runtime API for endpoint "${endpoint}"`, () => runtime.version({}, {signal}));
  await asked(`validate CRI v1 image API for endpoint "${imageEndpoint}"`, () =>
    images.imageFsInfo({}, {signal}),
  );
}

async function asked(what: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    throw error instanceof KcriError ? new ServiceConnectionError(what, error) : error;
  }
}
