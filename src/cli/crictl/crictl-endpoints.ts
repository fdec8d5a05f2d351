import {ConfigError, KcriError, messageOf} from '../../base/errors.js';
import type {EndpointSearch} from '../dialect.js';
import {crictlCommand, type ServiceName} from './crictl-commands.js';
import {validate, validationContext} from './validate-services.js';

/**
 * Returns the socket address of an endpoint as crictl resolves it. Drops a host between `unix://` and the path, and
 * assumes `unix://` if the scheme is missing. Throws ConfigError.
 */
export function resolveCrictlAddress(endpoint: string, command: string): string {
  const [first] = requiredServices(command);
  if (endpoint === '')
    throw new ConfigError(`--${first === 'images' ? 'image' : 'runtime'}-endpoint is not set`);
  if (/\s/.test(endpoint)) throw new ConfigError(noUrl(endpoint));
  const url = /^[a-z]+:/.test(endpoint) ? endpoint : `unix://${endpoint}`;
  const [, scheme = '', path = ''] = /^([a-z]+):(?:\/\/[^/]*)?(.*)$/.exec(url) ?? [];
  if (scheme === 'tcp') throw new ConfigError('only support unix socket endpoint');
  if (scheme !== 'unix') throw new ConfigError(`protocol "${scheme}" not supported`);
  if (path.startsWith('/')) return `unix://${path}`;
  throw new ConfigError(
    `${validationContext(first, endpoint)}: rpc error: code = Unavailable desc = dns resolver: missing address`,
  );
}

function noUrl(endpoint: string): string {
  return `parse ${JSON.stringify(`unix://${endpoint}`)}: invalid character " " in host name`;
}

/** Returns the services that a command connects to first, in order. */
export function requiredServices(command: string): readonly [ServiceName, ...ServiceName[]] {
  return crictlCommand(command).services ?? ['runtime'];
}

/**
 * Returns the default endpoint that crictl finds. Warns for each service that the command needs, and reports an error
 * for each socket that does not respond. Rejects with the last of these errors.
 */
export async function findCrictlEndpoint(search: EndpointSearch): Promise<string> {
  let found = '';
  for (const service of requiredServices(search.command)) found = await findService(service, search);
  return found;
}

async function findService(
  service: ServiceName,
  {wellKnownEndpoints, command, open, reporter, signal}: EndpointSearch,
): Promise<string> {
  const what = service === 'images' ? 'Image' : 'runtime';
  reporter.warn(
    `${what} connect using default endpoints: [${wellKnownEndpoints.join(' ')}]. As the default settings are now ` +
      'deprecated, you should set the endpoint instead.',
  );
  let last: KcriError = new ConfigError('no endpoint is known');
  for (const endpoint of wellKnownEndpoints) {
    const connection = await open(endpoint);
    try {
      await validate(service, {connection, endpoint, imageEndpoint: undefined, command, signal});
      return endpoint;
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      reporter.error(messageOf(error));
      last = error;
    }
  }
  throw last;
}
