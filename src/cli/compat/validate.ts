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
  const [api, at] = service === 'images' ? ['image', imageEndpoint] : ['runtime', endpoint];
  try {
    if (service === 'images') await images.imageFsInfo({}, {signal});
    else await runtime.version({version: 'v1'}, {signal});
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    const what = `validate service connection: validate CRI v1 ${api} API for endpoint "${at}"`;
    throw new ServiceError(`${what}: ${error.message}`, {cause: error});
  }
}
