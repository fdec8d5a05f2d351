import {UsageError} from '../../base/errors.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {goQuote} from '../../format/go-quote.js';
import type {BindReason, BoundPort} from '../../streaming/port-forward/listen.js';
import type {ForwardFailure} from '../../streaming/port-forward/port-forwarder.js';
import type {InvalidPortSpec, PortSpec} from '../../streaming/port-forward/port-spec.js';
import type {PortForwardMessages} from './port-forward-text.js';

export const CRICTL_PORT_FORWARD_MESSAGES: PortForwardMessages = {
  noId: 'port forward: ID cannot be empty',
  portError: (fault) => new UsageError(`port forward: ${crictlPortFaultText(fault)}`),
  requesting: () => 'port forward',
  connecting: () => 'port forward: error upgrading connection',
  connectionFailed: crictlConnectionFailureText,
};

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

/** Formats crictl's error, outside its log, for a port that cannot be listened on at all. */
export function crictlNotListeningText({spec, failures}: BoundPort): string {
  const errors = failures.map(({address, port, reason, message}) => {
    const why = reason === 'other' ? `bind: ${message}` : GO_REASONS[reason];
    const family = address.includes(':') ? 'tcp6' : 'tcp4';
    return `unable to create listener: Error listen ${family} ${joinHostPort({host: address, port})}: ${why}`;
  });
  const all = `Listeners failed to create with the following errors: [${errors.join(' ')}]`;
  return `Unable to listen on port ${spec.local}: ${all}`;
}

/** Formats crictl's error for the case that no port can be listened on. */
export function nothingBoundText(ports: readonly BoundPort[]): string {
  const pairs = ports.map(({spec: {local, remote}}) => `{${local} ${remote}}`);
  return `unable to listen on any of the requested ports: [${pairs.join(' ')}]`;
}

const GO_REASONS: Readonly<Record<Exclude<BindReason, 'other'>, string>> = {
  'in use': 'bind: address already in use',
  'not permitted': 'bind: permission denied',
  'no such address': 'bind: cannot assign requested address',
  'no such family': 'socket: address family not supported by protocol',
};

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
