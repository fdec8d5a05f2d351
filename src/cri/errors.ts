import {KcriError} from '../base/errors.js';
import {hintFor, plainText, STARTING} from './error-words.js';

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

  /** gRPC's number of the status. */
  get grpcNumber(): number {
    return CODES.findIndex(([name]) => name === this.grpcCode);
  }

  override get plainMessage(): string {
    return plainText(this);
  }
}

/** True when the runtime says that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'NOT_FOUND';
}

/** True when the runtime lacks the RPC. Runtimes use different texts; only the code counts. */
export function isUnimplemented(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED';
}

/**
 * True when nothing answers at the endpoint, it went away during the call, or it is still starting, of which containerd
 * 2.x alone tells by the code.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof CriError && (error.grpcCode === 'UNAVAILABLE' || STARTING.test(error.details));
}
