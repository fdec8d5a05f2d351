import {isIP} from 'node:net';
import {UsageError} from '../../base/errors.js';
import type {Init, PortMapping, Protocol} from '../../cri/index.js';

const PROTOCOLS: Readonly<Record<string, Protocol>> = {tcp: 'TCP', udp: 'UDP', sctp: 'SCTP'};
const MAX_PORT = 65_535;

/** Parses `[IP:]HOST:CONTAINER[/PROTOCOL]`, docker's `-p`; an IPv6 address is in brackets. Throws UsageError. */
export function parsePublishedPort(text: string): Init<PortMapping> {
  const invalid = (reason: string, hint?: string): UsageError =>
    new UsageError(`invalid --publish "${text}": ${reason}`, {hint});
  const [, address, host, container = '', name = 'tcp'] =
    /^(?:(?:(\[[^\]]*\]|[^:]*):)?(\d+):)?(\d+)(?:\/(\w+))?$/.exec(text) ?? [];
  if (container === '') throw invalid('must be [IP:]HOST:CONTAINER[/PROTOCOL]');
  if (host === undefined)
    throw invalid(
      'the port of the host is missing',
      `CRI cannot choose a free port: use ${container}:${container}`,
    );
  const protocol = PROTOCOLS[name.toLowerCase()];
  if (protocol === undefined) throw invalid(`unknown protocol "${name}"`, 'use tcp, udp or sctp');
  const hostIp = (address ?? '').replace(/^\[(.*)\]$/, '$1');
  if (hostIp !== '' && isIP(hostIp) === 0) throw invalid(`"${hostIp}" is not an IP address`);
  const port = (digits: string): number => {
    const number = Number(digits);
    if (number < 1 || number > MAX_PORT) throw invalid(`port ${digits} is not between 1 and ${MAX_PORT}`);
    return number;
  };
  return {protocol, hostIp, hostPort: port(host), containerPort: port(container)};
}
