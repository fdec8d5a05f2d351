import {KcriError} from '../../base/errors.js';
import type {NewConnection, ServiceName} from '../dialect/dialect.js';

/** Reports that a service failed crictl's validation. */
class ServiceError extends KcriError {
  readonly code = 'CRI_SERVICE';
}

/** Validates a service with the same call as crictl. Rejects with KcriError with crictl's message. */
export async function validate(
  service: ServiceName,
  {connection, endpoint, imageEndpoint = endpoint, signal}: Omit<NewConnection, 'needs'>,
): Promise<void> {
  const {runtime, images} = connection;
  const at = service === 'images' ? imageEndpoint : endpoint;
  try {
    if (service === 'images') await images.imageFsInfo({}, {signal});
    else await runtime.version({}, {signal});
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    throw new ServiceError(`${validationContext(service, at)}: ${error.message}`, {cause: error});
  }
}

/** Returns the error context for a service that does not respond. */
export function validationContext(service: ServiceName, endpoint: string): string {
  const api = service === 'images' ? 'image' : 'runtime';
  return `validate service connection: validate CRI v1 ${api} API for endpoint "${endpoint}"`;
}
