import {KcriError} from '../../base/errors.js';
import type {Connection} from '../../cri/index.js';

/** Error of a runtime service that did not respond. */
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
 * Calls both services once at the start (cri-client validateServiceConnection). Rejects with KcriError if one does not
 * respond: a kubelet does not wait for its runtime, but exits and is restarted.
 */
export async function validateConnection(
  {runtime, images}: Connection,
  {
    endpoint,
    imageEndpoint = endpoint,
  }: {readonly endpoint: string; readonly imageEndpoint?: string | undefined},
  signal: AbortSignal,
): Promise<void> {
  await validate(`validate CRI v1 runtime API for endpoint "${endpoint}"`, () =>
    runtime.version({}, {signal}),
  );
  await validate(`validate CRI v1 image API for endpoint "${imageEndpoint}"`, () =>
    images.imageFsInfo({}, {signal}),
  );
}

async function validate(action: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    throw error instanceof KcriError ? new ServiceConnectionError(action, error) : error;
  }
}
