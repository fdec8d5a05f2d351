import {UsageError} from '../../base/errors.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import type {BindFailure, BindReason, BoundPort} from '../../streaming/port-forward/listen.js';
import type {ForwardFailure} from '../../streaming/port-forward/port-forwarder.js';
import type {InvalidPortSpec, PortSpec} from '../../streaming/port-forward/port-spec.js';

/** Formats the output lines for a port, identical to crictl's. */
export function listeningLines({spec, listeners}: BoundPort): readonly string[] {
  return listeners.map(
    ({address, local}) => `Forwarding from ${joinHostPort({host: address, port: local})} -> ${spec.remote}`,
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
  noId: 'specify a pod',
  portError: (fault) =>
    new UsageError(portFaultText(fault), {
      hint: 'use 8080:80, :80 for any free local port, or 80 for the same port on both sides',
    }),
  requesting: (pod) => `forwarding ports of the pod "${pod}"`,
  connecting: (pod) => `forwarding ports of the pod "${pod}"`,
  connectionFailed: connectionFailureText,
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

/** Formats the error for an address that cannot be listened on. */
export function notListeningText({address, port, reason, message}: BindFailure): string {
  const why = reason === 'other' ? message : REASONS[reason];
  return `cannot listen on ${joinHostPort({host: address, port})}: ${why}`;
}

const REASONS: Readonly<Record<Exclude<BindReason, 'other'>, string>> = {
  'in use': 'the port is in use',
  'not permitted': 'permission denied',
  'no such address': 'this machine has no such address',
  'no such family': 'this machine has no addresses of this family',
};

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
