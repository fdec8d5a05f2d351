import {ConfigError, KcriError, messageOf} from '../../base/errors.js';
import type {EndpointSearch} from '../dialect.js';
import {crictlCommand, type ServiceName} from './commands.js';
import {validate, validating} from './validate.js';

/**
 * Where an endpoint's socket is, as crictl reads it: a host between `unix://` and the path is dropped, and what has no
 * scheme is read as if `unix://` were before it. Throws ConfigError.
 */
export function crictlAddress(endpoint: string, command: string): string {
  const [first] = servicesOf(command);
  if (endpoint === '')
    throw new ConfigError(`--${first === 'images' ? 'image' : 'runtime'}-endpoint is not set`);
  if (/\s/.test(endpoint)) throw new ConfigError(noUrl(endpoint));
  const url = /^[a-z]+:/.test(endpoint) ? endpoint : `unix://${endpoint}`;
  const [, scheme = '', path = ''] = /^([a-z]+):(?:\/\/[^/]*)?(.*)$/.exec(url) ?? [];
  if (scheme === 'tcp') throw new ConfigError('only support unix socket endpoint');
  if (scheme !== 'unix') throw new ConfigError(`protocol "${scheme}" not supported`);
  if (path.startsWith('/')) return `unix://${path}`;
  throw new ConfigError(
    `${validating(first, endpoint)}: rpc error: code = Unavailable desc = dns resolver: missing address`,
  );
}

function noUrl(endpoint: string): string {
  return `parse ${JSON.stringify(`unix://${endpoint}`)}: invalid character " " in host name`;
}

/** The services that a command connects to first, in their order. */
export function servicesOf(command: string): readonly [ServiceName, ...ServiceName[]] {
  return crictlCommand(command).services ?? ['runtime'];
}

/**
 * Where the runtime is when nobody says, found as crictl does: with a warning for each service that the command
 * needs and an error for each socket that does not answer. Rejects with the last of these.
 */
export async function findAsCrictl(search: EndpointSearch): Promise<string> {
  let found = '';
  for (const service of servicesOf(search.command)) found = await findService(service, search);
  return found;
}

async function findService(
  service: ServiceName,
  {wellKnown, command, open, voice, signal}: EndpointSearch,
): Promise<string> {
  const what = service === 'images' ? 'Image' : 'runtime';
  voice.warn(
    `${what} connect using default endpoints: [${wellKnown.join(' ')}]. As the default settings are now ` +
      'deprecated, you should set the endpoint instead.',
  );
  let last: KcriError = new ConfigError('no endpoint is known');
  for (const endpoint of wellKnown) {
    const connection = await open(endpoint);
    try {
      await validate(service, {connection, endpoint, imageEndpoint: undefined, command, signal});
      return endpoint;
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      voice.complain(messageOf(error));
      last = error;
    }
  }
  throw last;
}
