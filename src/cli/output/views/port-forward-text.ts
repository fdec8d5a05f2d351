import {UsageError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import {formatAuthority} from '../../../streaming/streaming-address.js';
import type {BindFailure, BindReason, BoundPort} from '../../../streaming/port-forward/listen.js';
import type {ForwardFailure} from '../../../streaming/port-forward/port-forwarder.js';
import type {InvalidPortSpec, PortSpec} from '../../../streaming/port-forward/port-spec.js';

/** Formats the output lines for a port, identical to crictl's. */
export function listeningLines({spec, listeners}: BoundPort): readonly string[] {
  return listeners.map(
    ({address, local}) =>
      `Forwarding from ${formatAuthority({host: address, port: local})} -> ${spec.remote}`,
  );
}

/** Messages of `port-forward` about failures; `pod` is the name that the user gave. */
export interface PortForwardMessages {
  readonly noId: string;
  portError(fault: InvalidPortSpec): UsageError;
  /** Returns the activity during the request to the runtime and the connection to its streaming server. */
  requesting(pod: string): string;
  connecting(pod: string): string;
  connectionFailed(ports: PortSpec, failure: ForwardFailure): string;
}

export const KCRI_PORT_FORWARD_MESSAGES: PortForwardMessages = {
  noId: 'ID cannot be empty',
  portError: (fault) =>
    new UsageError(portFaultText(fault), {
      hint: 'use 8080:80, :80 for any free local port, or 80 for the same port on both sides',
    }),
  requesting: (pod) => `forwarding ports of the pod "${pod}"`,
  connecting: (pod) => `forwarding ports of the pod "${pod}"`,
  connectionFailed: connectionFailureText,
};

export const CRICTL_PORT_FORWARD_MESSAGES: PortForwardMessages = {
  noId: 'port forward: ID cannot be empty',
  portError: (fault) => new UsageError(`port forward: ${crictlPortFaultText(fault)}`),
  requesting: () => 'port forward',
  connecting: () => 'port forward: error upgrading connection',
  connectionFailed: crictlConnectionFailureText,
};

function portFaultText(fault: InvalidPortSpec): string {
  switch (fault.kind) {
    case 'format':
      return `"${fault.text}" is not [LOCAL:]REMOTE`;
    case 'syntax':
      return `the ${fault.side} port "${fault.text}" is not a number`;
    case 'range':
      return `the ${fault.side} port "${fault.text}" is greater than 65535`;
    case 'no-remote':
      return `"${fault.text}" is not a port of the pod`;
    default:
      return fault satisfies never;
  }
}

function crictlPortFaultText(fault: InvalidPortSpec): string {
  switch (fault.kind) {
    case 'format':
      return `invalid port format '${fault.text}'`;
    case 'syntax':
    case 'range': {
      const why = fault.kind === 'syntax' ? 'invalid syntax' : 'value out of range';
      return `error parsing ${fault.side} port '${fault.text}': strconv.ParseUint: parsing ${goQuote(fault.text)}: ${why}`;
    }
    case 'no-remote':
      return 'remote port must be > 0';
    default:
      return fault satisfies never;
  }
}

/** Formats the error for an address that cannot be listened on. */
export function notListeningText({address, port, reason, message}: BindFailure): string {
  const why = reason === 'other' ? message : REASONS[reason].words;
  return `cannot listen on ${formatAuthority({host: address, port})}: ${why}`;
}

/** Formats crictl's error, outside its log, for a port that cannot be listened on at all. */
export function crictlNotListeningText({spec, failures}: BoundPort): string {
  const errors = failures.map(({address, port, reason, message}) => {
    const why = reason === 'other' ? `bind: ${message}` : REASONS[reason].go;
    const family = address.includes(':') ? 'tcp6' : 'tcp4';
    return `unable to create listener: Error listen ${family} ${formatAuthority({host: address, port})}: ${why}`;
  });
  const all = `Listeners failed to create with the following errors: [${errors.join(' ')}]`;
  return `Unable to listen on port ${spec.local}: ${all}`;
}

/** Formats crictl's error for the case that no port can be listened on. */
export function nothingBoundText(ports: readonly BoundPort[]): string {
  const pairs = ports.map(({spec: {local, remote}}) => `{${local} ${remote}}`);
  return `unable to listen on any of the requested ports: [${pairs.join(' ')}]`;
}

const REASONS = {
  'in use': {words: 'the port is in use', go: 'bind: address already in use'},
  'not permitted': {words: 'permission denied', go: 'bind: permission denied'},
  'no such address': {
    words: 'this machine has no such address',
    go: 'bind: cannot assign requested address',
  },
  'no such family': {
    words: 'this machine has no addresses of this family',
    go: 'socket: address family not supported by protocol',
  },
} as const satisfies Record<Exclude<BindReason, 'other'>, {readonly words: string; readonly go: string}>;

/** Formats the error of a connection that could not be forwarded, or was cut off. */
function connectionFailureText({remote}: PortSpec, failure: ForwardFailure): string {
  switch (failure.kind) {
    case 'refused':
      return failure.message.includes('connection refused')
        ? `a connection was refused: nothing listens on port ${remote} of the pod`
        : `a connection to port ${remote} of the pod failed: ${failure.message.trim()}`;
    case 'lost':
      return `a connection to port ${remote} of the pod was lost: the runtime closed it`;
    case 'unreachable':
      return `a connection to port ${remote} of the pod failed: ${failure.error.message}`;
    default:
      return failure satisfies never;
  }
}

/** Formats the error of a connection as crictl writes it to klog. */
function crictlConnectionFailureText({local, remote}: PortSpec, failure: ForwardFailure): string {
  const from = `${local} -> ${remote}`;
  switch (failure.kind) {
    case 'refused':
      return `an error occurred forwarding ${from}: ${failure.message}`;
    case 'lost':
      return `error reading from error stream for port ${from}: unexpected EOF`;
    case 'unreachable':
      return `error creating error stream for port ${from}: ${failure.error.message}`;
    default:
      return failure satisfies never;
  }
}
