import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkHeaderName, checkPortName, inclusiveRangeError, validateName} from './validate-names.js';
import {
  validateEach,
  validateRequired,
  validateNonNegative,
  validateRange,
  validateIfSet,
} from './field-validators.js';
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodOS,
  Probe,
  ProbeHandler,
  SleepAction,
  TCPSocketAction,
} from '../types/v1-pod.js';
import type {IntOrString} from '../types/v1-meta.js';

const REAL_TIME_SIGNALS = Array.from({length: 15}, (_, index) => [
  `SIGRTMIN+${index + 1}`,
  `SIGRTMAX-${index + 1}`,
])
  .flat()
  .filter((signal) => signal !== 'SIGRTMAX-15');

/** Stop signals of Linux, in the order of the API server. */
const LINUX_STOP_SIGNALS: readonly string[] = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM'.split(
    ' ',
  ),
  ...'TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(' '),
]
  .map((name) => `SIG${name}`)
  .concat(REAL_TIME_SIGNALS)
  .sort();

const STOP_SIGNALS = new Map<string, readonly string[]>([
  ['linux', LINUX_STOP_SIGNALS],
  ['windows', ['SIGKILL', 'SIGTERM']],
]);

/** Validates a port number or name (ValidatePortNumOrName). */
function* validatePort(port: IntOrString, path: FieldPath): FieldErrors {
  if (typeof port === 'string') yield* validateName(port, path, checkPortName);
  else if (port < 1 || port > 65535) yield invalidValue(path, port, inclusiveRangeError(1, 65535));
}

function* validateExec(action: ExecAction, path: FieldPath): FieldErrors {
  if ((action.command ?? []).length === 0) yield requiredValue(path.child('command'));
}

function* validateHttpGet(action: HTTPGetAction, path: FieldPath): FieldErrors {
  yield* validateRequired(action.path, path.child('path'));
  yield* validatePort(action.port, path.child('port'));
  yield* validateEach(action.httpHeaders, path.child('httpHeaders'), (header, at) =>
    validateName(header.name, at.child('name'), checkHeaderName),
  );
}

function* validateTcpSocket(action: TCPSocketAction, path: FieldPath): FieldErrors {
  yield* validatePort(action.port, path.child('port'));
}

function* validateGrpc(action: GRPCAction, path: FieldPath): FieldErrors {
  yield* validateRange(action.port, path.child('port'), 1, 65535);
}

function validateSleep(graceSeconds: number): (action: SleepAction, path: FieldPath) => FieldErrors {
  return function* ({seconds}, path) {
    if (seconds >= 0 && seconds <= graceSeconds) return;
    const rule = 'must be non-negative and less than terminationGracePeriodSeconds';
    yield invalidValue(path, seconds, `${rule} (${graceSeconds})`);
  };
}

/** Checks that exactly one valid handler is set (validateHandler). */
function* validateHandler(
  handler: ProbeHandler & LifecycleHandler,
  path: FieldPath,
  graceSeconds: number,
): FieldErrors {
  const kinds: readonly (readonly [string, FieldErrors | undefined])[] = [
    ['exec', handler.exec && validateExec(handler.exec, path.child('exec'))],
    ['httpGet', handler.httpGet && validateHttpGet(handler.httpGet, path.child('httpGet'))],
    ['tcpSocket', handler.tcpSocket && validateTcpSocket(handler.tcpSocket, path.child('tcpSocket'))],
    ['grpc', handler.grpc && validateGrpc(handler.grpc, path.child('grpc'))],
    ['sleep', handler.sleep && validateSleep(graceSeconds)(handler.sleep, path.child('sleep'))],
  ];
  let found = false;
  for (const [kind, errors] of kinds) {
    if (errors === undefined) continue;
    if (found) yield forbidden(path.child(kind), 'may not specify more than 1 handler type');
    else yield* errors;
    found = true;
  }
  if (!found) yield requiredValue(path, 'must specify a handler type');
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function* validateProbe(probe: Probe, path: FieldPath, graceSeconds: number): FieldErrors {
  yield* validateHandler(probe, path, graceSeconds);
  for (const name of PROBE_NUMBERS) yield* validateNonNegative(probe[name], path.child(name));
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    yield invalidValue(path.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0');
  }
}

/** Validates the probes of a container or sidecar. */
export function* validateProbes(
  probes: {
    readonly livenessProbe?: Probe;
    readonly readinessProbe?: Probe;
    readonly startupProbe?: Probe;
  },
  path: FieldPath,
  graceSeconds: number,
): FieldErrors {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = probes[name];
    if (probe === undefined) continue;
    const at = path.child(name);
    yield* validateProbe(probe, at, graceSeconds);
    if (name !== 'readinessProbe' && probe.successThreshold !== 1) {
      yield invalidValue(at.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1');
    }
    if (name === 'readinessProbe' && probe.terminationGracePeriodSeconds !== undefined) {
      const grace = at.child('terminationGracePeriodSeconds');
      yield invalidValue(grace, probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes');
    }
  }
}

function* validateStopSignal(signal: string, path: FieldPath, os: PodOS | undefined): FieldErrors {
  if (os === undefined) {
    yield forbidden(path, 'may not be set for containers with empty `spec.os.name`');
  } else {
    const supported = STOP_SIGNALS.get(os.name);
    if (supported?.includes(signal) === false) yield unsupportedValue(path, signal, supported);
  }
}

/** Validates the hooks of a container or sidecar (validateLifecycle). */
export function* validateLifecycle(
  lifecycle: Lifecycle,
  path: FieldPath,
  pod: {readonly graceSeconds: number; readonly os: PodOS | undefined},
): FieldErrors {
  for (const name of ['postStart', 'preStop'] as const) {
    yield* validateIfSet(lifecycle[name], path.child(name), (handler, at) =>
      validateHandler(handler, at, pod.graceSeconds),
    );
  }
  yield* validateIfSet(lifecycle.stopSignal, path.child('stopSignal'), (signal, at) =>
    validateStopSignal(signal, at, pod.os),
  );
}
