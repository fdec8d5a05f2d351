import {findProxyVariable} from '../../base/net/proxy-variable.js';
import type {StreamingAddress} from '../session/streaming-address.js';
import {StreamingError} from '../session/errors.js';

/** Returns the HTTP proxy for an address (findProxyVariable). Throws StreamingError for an unsupported proxy. */
export function proxyFromEnvironment(
  address: StreamingAddress,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const variable = findProxyVariable(address, env);
  if (variable !== undefined && variable.url?.protocol !== 'http:')
    throw new StreamingError(`${variable.name} must be an HTTP proxy URL`, {
      hint: `use http://HOST:PORT, or add ${address.host} to NO_PROXY`,
    });
  return variable?.url;
}
