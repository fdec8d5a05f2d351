import {UsageError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {authority} from '../../streaming/address.js';
import type {BindFailure, BindReason, BoundPort} from '../../streaming/port-forward/listen.js';
import type {ConnectionFailure} from '../../streaming/port-forward/port-forwarder.js';
import type {PortFault, PortSpec} from '../../streaming/port-forward/port-spec.js';

/** The lines on standard output for a port, the same as crictl's. */
export function listeningLines({spec, listeners}: BoundPort): readonly string[] {
  return listeners.map(
    ({address, local}) => `Forwarding from ${authority({host: address, port: local})} -> ${spec.remote}`,
  );
}

/** What `port-forward` says of what goes wrong; `pod` is what the user called it. */
export interface PortForwardWords {
  readonly noId: string;
  portError(fault: PortFault): UsageError;
  /** What is being done while the runtime is asked, and while its streaming server is connected to. */
  asking(pod: string): string;
  connecting(pod: string): string;
  connectionFailed(ports: PortSpec, failure: ConnectionFailure): string;
}

export const OWN_WORDS: PortForwardWords = {
  noId: 'ID cannot be empty',
  portError: (fault) =>
    new UsageError(portFaultText(fault), {
      hint: 'ports are written 8080:80, :80 for any free local port, or 80 for the same on both sides',
    }),
  asking: (pod) => `forwarding ports of the pod "${pod}"`,
  connecting: (pod) => `forwarding ports of the pod "${pod}"`,
  connectionFailed: connectionFailureText,
};

export const CRICTL_WORDS: PortForwardWords = {
  noId: 'port forward: ID cannot be empty',
  portError: (fault) => new UsageError(`port forward: ${crictlPortFaultText(fault)}`),
  asking: () => 'port forward',
  connecting: () => 'port forward: error upgrading connection',
  connectionFailed: crictlConnectionFailureText,
};

function portFaultText(fault: PortFault): string {
  switch (fault.kind) {
    case 'format':
      return `"${fault.text}" is not [LOCAL:]REMOTE`;
    case 'syntax':
      return `the ${fault.side} port "${fault.text}" is not a number`;
    case 'range':
      return `the ${fault.side} port "${fault.text}" is over 65535`;
    case 'no-remote':
      return `"${fault.text}" names no port of the pod`;
    default:
      return fault satisfies never;
  }
}

function crictlPortFaultText(fault: PortFault): string {
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

/** An address that a port is not listened on. */
export function notListeningText({address, port, reason, words}: BindFailure): string {
  const why = reason === 'other' ? words : REASONS[reason].words;
  return `not listening on ${authority({host: address, port})}: ${why}`;
}

/** What crictl says, outside its log, of a port that it can't listen on at all. */
export function crictlNotListeningText({spec, failures}: BoundPort): string {
  const errors = failures.map(({address, port, reason, words}) => {
    const why = reason === 'other' ? `bind: ${words}` : REASONS[reason].go;
    const family = address.includes(':') ? 'tcp6' : 'tcp4';
    return `unable to create listener: Error listen ${family} ${authority({host: address, port})}: ${why}`;
  });
  const all = `Listeners failed to create with the following errors: [${errors.join(' ')}]`;
  return `Unable to listen on port ${spec.local}: ${all}`;
}

/** The error when there is nothing to listen to, in crictl's words. */
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
    words: 'this machine has no such addresses',
    go: 'socket: address family not supported by protocol',
  },
} as const satisfies Record<Exclude<BindReason, 'other'>, {readonly words: string; readonly go: string}>;

/** What happened to a connection that could not be forwarded, or not to its end. */
function connectionFailureText({remote}: PortSpec, failure: ConnectionFailure): string {
  switch (failure.kind) {
    case 'refused':
      return failure.message.includes('connection refused')
        ? `a connection was refused: nothing listens on port ${remote} of the pod`
        : `a connection to port ${remote} of the pod failed: ${failure.message.trim()}`;
    case 'lost':
      return `a connection to port ${remote} of the pod was cut off: the runtime has ended it`;
    case 'unreachable':
      return `a connection to port ${remote} of the pod failed: ${failure.error.message}`;
    default:
      return failure satisfies never;
  }
}

/** The same in crictl's words; it writes them to klog. */
function crictlConnectionFailureText({local, remote}: PortSpec, failure: ConnectionFailure): string {
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
