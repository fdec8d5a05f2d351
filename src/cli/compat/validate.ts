import {KcriError} from '../../base/errors.js';
import type {NewConnection} from '../dialect.js';
import {crictlCommand, type ServiceName} from './commands.js';

/** A service that crictl would not work with. */
class ServiceError extends KcriError {
  readonly code = 'CRI_SERVICE';
}

/**
 * Makes the calls that crictl makes to each service that a command needs before it uses any. Throws KcriError in
 * crictl's words.
 */
export async function validateServices(made: NewConnection): Promise<void> {
  for (const service of crictlCommand(made.command).services ?? ['runtime']) await validate(service, made);
}

/** Makes that call to one service. */
export async function validate(
  service: ServiceName,
  {connection, endpoint, imageEndpoint = endpoint, signal}: NewConnection,
): Promise<void> {
  const {runtime, images} = connection;
  const at = service === 'images' ? imageEndpoint : endpoint;
  try {
    if (service === 'images') await images.imageFsInfo({}, {signal});
    else await runtime.version({version: 'v1'}, {signal});
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    throw new ServiceError(`${validating(service, at)}: ${error.message}`, {cause: error});
  }
}

/** What crictl was at when a service does not answer. */
export function validating(service: ServiceName, endpoint: string): string {
  const api = service === 'images' ? 'image' : 'runtime';
  return `validate service connection: validate CRI v1 ${api} API for endpoint "${endpoint}"`;
}
