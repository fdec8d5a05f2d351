import {networkInterfaces} from 'node:os';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {isLoopback} from '../../base/net/proxy-variable.js';
import {StreamingError} from './errors.js';
import type {DialOptions} from './session.js';
import {parseStreamingAddress, type StreamingAddress} from './streaming-address.js';

/**
 * Returns the address of a streaming URL that a runtime returned. Throws StreamingError if the URL is invalid or the
 * address does not belong to this machine: what relays sessions does not connect to other hosts.
 */
export function resolveBackendAddress(url: string): StreamingAddress {
  const address = parseStreamingAddress(url);
  if (isThisMachine(address.host)) return address;
  throw new StreamingError(`the runtime's streaming server ${joinHostPort(address)} is not on this machine`, {
    hint: "let the runtime's streaming server listen on 127.0.0.1",
  });
}

/**
 * Returns dial options that skip TLS verification, as crictl and the kubelet do: local servers have self-signed
 * certificates.
 */
export function createBackendDialOptions(given: Pick<DialOptions, 'clock' | 'signal'>): DialOptions {
  return {...given, tls: {insecure: true}, env: {}};
}

function isThisMachine(host: string): boolean {
  if (isLoopback(host)) return true;
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({address}) => address === host),
  );
}
