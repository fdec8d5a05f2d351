import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import {isNotFound, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link deleteResourceSlices}. */
export interface ResourceSliceOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  /** Driver of the slices; all by default. */
  readonly driver?: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Delays between attempts, in ms: doubled up to a maximum (DRAPluginManager.wipeResourceSlices). */
const INITIAL_DELAY_MS = 1000;
const MAX_DELAY_MS = 300_000;

/**
 * Deletes the ResourceSlices of the node, or those of one driver, so that the scheduler does not offer devices whose drivers are not running.
 * Tries until it succeeds; rejects with the signal's reason.
 */
export async function deleteResourceSlices(
  {client, nodeName, driver, clock, logger}: ResourceSliceOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = logger.forFile('resource-slices.ts');
  const ofDriver = driver === undefined ? '' : `spec.driver=${escapeFieldValue(driver)},`;
  const fieldSelector = `${ofDriver}spec.nodeName=${nodeName}`;
  for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      await client.request(
        {
          method: 'DELETE',
          path: '/apis/resource.k8s.io/v1/resourceslices',
          query: {fieldSelector},
          body: {apiVersion: 'resource.k8s.io/v1', kind: 'DeleteOptions'},
        },
        signal,
      );
      return;
    } catch (error) {
      signal.throwIfAborted();
      // The API server does not serve resource.k8s.io.
      if (isNotFound(error)) return;
      log.error(error, 'Failed to delete the ResourceSlices of the node');
    }
    await pause(clock, delayMs, signal);
  }
}

/** Escapes a value of a field selector (fields.EscapeValue): the name is the driver's own, which must not select others. */
function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}
