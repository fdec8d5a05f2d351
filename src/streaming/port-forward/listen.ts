import {once} from 'node:events';
import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {hasErrno, isSystemCallError} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import type {AddressGroup} from './addresses.js';
import type {PortSpec} from './port-spec.js';

/** A port that is listened to. */
export interface Listener {
  readonly address: string;
  readonly local: number;
  readonly remote: number;
  readonly server: Server;
}

/** An address that a port can't be opened on. */
export interface BindFailure {
  readonly address: string;
  readonly port: number;
  readonly reason: BindReason;
  /** The system's own words. */
  readonly words: string;
}

/** What came of one port. */
export interface BoundPort {
  /** With the local port that was chosen, when any would do. */
  readonly spec: PortSpec;
  readonly listeners: readonly Listener[];
  readonly failures: readonly BindFailure[];
  /** Whether each group of addresses has at least one that the port is open on. */
  readonly isComplete: boolean;
}

export type BindReason = 'in use' | 'not permitted' | 'no such address' | 'no such family' | 'other';

const REASONS = {
  EADDRINUSE: 'in use',
  EACCES: 'not permitted',
  EADDRNOTAVAIL: 'no such address',
  EAFNOSUPPORT: 'no such family',
} as const satisfies Record<string, BindReason>;

/** What one write may take before the pod's side is held up. */
const HIGH_WATER_MARK = 256 * 1024;

/**
 * Listens on a port of each address. A port that may be any is the same on all of them. What can't be listened
 * on is part of the result.
 */
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
    return {address, port: local, reason: reasonOf(error), words: systemReason(error)};
  }
  const {port} = server.address() as AddressInfo;
  // A connection that can't be accepted, as when there are no more file descriptors, is its maker's to retry.
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
