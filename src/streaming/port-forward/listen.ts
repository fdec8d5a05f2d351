import {once} from 'node:events';
import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {hasErrno, isSystemCallError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {AddressGroup} from './listen-addresses.js';
import type {PortSpec} from './port-spec.js';

/** Open listening port. */
export interface Listener {
  readonly address: string;
  readonly local: number;
  readonly remote: number;
  readonly server: Server;
}

/** Address on which a port cannot be opened. */
export interface BindFailure {
  readonly address: string;
  readonly port: number;
  readonly reason: BindReason;
  /** Error message of the system. */
  readonly message: string;
}

/** Result of listening on one port. */
export interface BoundPort {
  /** Port spec with the chosen local port instead of 0. */
  readonly spec: PortSpec;
  readonly listeners: readonly Listener[];
  readonly failures: readonly BindFailure[];
  /** True if each group of addresses has at least one listener. */
  readonly isComplete: boolean;
}

/** Reason why a port cannot be opened. */
export type BindReason = 'in use' | 'not permitted' | 'no such address' | 'no such family' | 'other';

const REASONS = {
  EADDRINUSE: 'in use',
  EACCES: 'not permitted',
  EADDRNOTAVAIL: 'no such address',
  EAFNOSUPPORT: 'no such family',
} as const satisfies Record<string, BindReason>;

/** Size of the write buffer, in bytes, from which the pod's side is paused. */
const HIGH_WATER_MARK = 256 * 1024;

/** Listens on a port of each address. A random port is the same on all of them. Failures are part of the result. */
export async function listen(
  spec: PortSpec,
  groups: readonly AddressGroup[],
  accept: (socket: Socket, ports: PortSpec) => void,
): Promise<BoundPort> {
  const listeners: Listener[] = [];
  const failures: BindFailure[] = [];
  let {local} = spec;
  for (const address of groups.flatMap(({addresses}) => addresses)) {
    const bound = await bind(address, {...spec, local}, accept);
    if ('reason' in bound) failures.push(bound);
    else {
      listeners.push(bound);
      ({local} = bound);
    }
  }
  const open = new Set(listeners.map(({address}) => address));
  const isComplete = groups.every(({addresses}) => addresses.some((address) => open.has(address)));
  return {spec: {...spec, local}, listeners, failures, isComplete};
}

async function bind(
  address: string,
  {local, remote}: PortSpec,
  accept: (socket: Socket, ports: PortSpec) => void,
): Promise<Listener | BindFailure> {
  const server = createServer({allowHalfOpen: true, noDelay: true, highWaterMark: HIGH_WATER_MARK});
  try {
    server.listen({host: address, port: local, ipv6Only: true});
    await once(server, 'listening');
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return {address, port: local, reason: reasonOf(error), message: systemErrorMessage(error)};
  }
  const {port} = server.address() as AddressInfo;
  // Clients retry after accept errors, such as too few file descriptors.
  server.on('error', () => undefined);
  server.on('connection', (socket) => {
    accept(socket, {local: port, remote});
  });
  return {address, local: port, remote, server};
}

function reasonOf(error: unknown): BindReason {
  for (const [code, reason] of Object.entries(REASONS)) if (hasErrno(error, code)) return reason;
  return 'other';
}
