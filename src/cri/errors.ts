import {KcriError} from '../base/errors.js';

/** gRPC's status codes by number; the names as Go prints them in `rpc error: code = NotFound`. */
const CODES = [
  ['OK', 'OK'],
  ['CANCELLED', 'Canceled'],
  ['UNKNOWN', 'Unknown'],
  ['INVALID_ARGUMENT', 'InvalidArgument'],
  ['DEADLINE_EXCEEDED', 'DeadlineExceeded'],
  ['NOT_FOUND', 'NotFound'],
  ['ALREADY_EXISTS', 'AlreadyExists'],
  ['PERMISSION_DENIED', 'PermissionDenied'],
  ['RESOURCE_EXHAUSTED', 'ResourceExhausted'],
  ['FAILED_PRECONDITION', 'FailedPrecondition'],
  ['ABORTED', 'Aborted'],
  ['OUT_OF_RANGE', 'OutOfRange'],
  ['UNIMPLEMENTED', 'Unimplemented'],
  ['INTERNAL', 'Internal'],
  ['UNAVAILABLE', 'Unavailable'],
  ['DATA_LOSS', 'DataLoss'],
  ['UNAUTHENTICATED', 'Unauthenticated'],
] as const;

export type GrpcCode = (typeof CODES)[number][0];

/** The name of a gRPC status number; an unknown number is UNKNOWN, as gRPC says. */
export function grpcCodeOf(number: number): GrpcCode {
  return (CODES[number] ?? CODES[2])[0];
}

/** What a CriError is made of. */
export interface CriFailure {
  /** The RPC's wire name, such as `RunPodSandbox`. */
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: GrpcCode;
  /** The runtime's own text. */
  readonly details: string;
  /** Nothing was sent: there was nobody to send it to. */
  readonly neverConnected?: boolean;
  readonly cause?: unknown;
}

/** A failed RPC. The message is crictl's: `rpc error: code = NotFound desc = …`. */
export class CriError extends KcriError {
  readonly code: string;
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: GrpcCode;
  readonly details: string;
  readonly neverConnected: boolean;

  constructor(failure: CriFailure) {
    const goName = CODES.find(([name]) => name === failure.grpcCode)?.[1] ?? 'Unknown';
    super(`rpc error: code = ${goName} desc = ${failure.details}`, {
      cause: failure.cause,
      hint: hintFor(failure),
    });
    this.code = `CRI_${failure.grpcCode}`;
    this.method = failure.method;
    this.endpoint = failure.endpoint;
    this.grpcCode = failure.grpcCode;
    this.details = failure.details;
    this.neverConnected = failure.neverConnected === true;
  }
}

function hintFor({method, endpoint, grpcCode, details}: CriFailure): string | undefined {
  if (grpcCode === 'UNAVAILABLE') return unavailableHint(endpoint, details);
  if (grpcCode === 'INTERNAL' && /protocol error|parse error/i.test(details)) return notCri(endpoint);
  if (grpcCode !== 'UNIMPLEMENTED') return undefined;
  // Both texts mean that the whole service is unknown, not one RPC of it.
  return /unknown service|HTTP/.test(details)
    ? notCri(endpoint)
    : `this runtime does not implement ${method}; "kcri version" shows which runtime answers at ${endpoint}`;
}

/** part of the runtime's or the system's text → what to do */
const UNAVAILABLE_HINTS: readonly (readonly [RegExp, (endpoint: string) => string])[] = [
  [
    /no such file or directory|not a directory/,
    (endpoint) =>
      `there is no socket at ${endpoint}; is the runtime running? Name another with --runtime-endpoint, or start one with "kcri runtime up"`,
  ],
  [
    /permission denied|operation not permitted/,
    (endpoint) => `no permission to open ${endpoint}; run kcri as root or as a member of the socket's group`,
  ],
  [/connection refused/, (endpoint) => `nothing listens at ${endpoint}; start the runtime that owns it`],
  [/protocol error|server preface|no gRPC server/i, notCri],
];

function unavailableHint(endpoint: string, details: string): string | undefined {
  return UNAVAILABLE_HINTS.find(([pattern]) => pattern.test(details))?.[1](endpoint);
}

function notCri(endpoint: string): string {
  return `what listens at ${endpoint} is not a CRI runtime; name the runtime's CRI socket with --runtime-endpoint`;
}

/** True when the runtime says that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'NOT_FOUND';
}

/** True when the runtime lacks the RPC. Runtimes use different texts; only the code counts. */
export function isUnimplemented(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED';
}

/** True when nothing answers at the endpoint, or it went away during the call. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'UNAVAILABLE';
}
