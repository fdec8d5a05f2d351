import {KcriError} from '../base/errors.js';
import {hintFor, formatPlainMessage, INVALID_RESPONSE, RUNTIME_STARTING} from './error-messages.js';

/** gRPC's status codes by number, with the names that Go prints in `rpc error: code = NotFound`. */
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

/** Name of a gRPC status code. */
export type GrpcCode = (typeof CODES)[number][0];

/** Returns the name of a gRPC status number; UNKNOWN for an unknown number, as gRPC specifies. */
export function grpcCodeOf(number: number): GrpcCode {
  return (CODES[number] ?? CODES[2])[0];
}

/** Constructor parameters of CriError. */
export interface CriFailure {
  /** The RPC's wire name, such as `RunPodSandbox`. */
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: GrpcCode;
  /** The runtime's own text. */
  readonly details: string;
  /** True if no connection was established, so that nothing was sent. */
  readonly neverConnected?: boolean;
  readonly cause?: unknown;
}

/**
 * A failed RPC. Its message is that of cri-client: `rpc error: code = NotFound desc = …`; for a pull that failed with the
 * code Unknown, the runtime's text alone (remote_image.go PullImage).
 */
export class CriError extends KcriError {
  readonly code: string;
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: GrpcCode;
  readonly details: string;
  readonly neverConnected: boolean;

  constructor(failure: CriFailure) {
    super(messageFor(failure), {cause: failure.cause, hint: hintFor(failure)});
    this.code = `CRI_${failure.grpcCode}`;
    this.method = failure.method;
    this.endpoint = failure.endpoint;
    this.grpcCode = failure.grpcCode;
    this.details = failure.details;
    this.neverConnected = failure.neverConnected === true;
  }

  /** gRPC's number of the status code. */
  get grpcNumber(): number {
    return CODES.findIndex(([name]) => name === this.grpcCode);
  }

  /** Name of the status code in Go, such as `NotFound`. */
  get goCode(): string {
    return goCodeOf(this.grpcCode);
  }

  override get plainMessage(): string {
    return formatPlainMessage(this);
  }
}

function messageFor({method, grpcCode, details}: CriFailure): string {
  if (method === 'PullImage' && grpcCode === 'UNKNOWN') return details;
  return `rpc error: code = ${goCodeOf(grpcCode)} desc = ${details}`;
}

function goCodeOf(grpcCode: GrpcCode): string {
  return CODES.find(([name]) => name === grpcCode)?.[1] ?? 'Unknown';
}

/** Reports whether the runtime returned NOT_FOUND: the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'NOT_FOUND';
}

/** Reports whether the runtime lacks the RPC. Texts differ between runtimes, so only the code is compared. */
export function isUnimplemented(error: unknown): boolean {
  return error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED';
}

/** Returns the failed call that is the error or a cause of it; undefined if there is none. */
export function findCriError(error: unknown): CriError | undefined {
  if (error instanceof CriError) return error;
  return error instanceof Error ? findCriError(error.cause) : undefined;
}

/** Reports whether the error, or a cause of it, is a response of the runtime that is not a valid message. */
export function isInvalidResponse(error: unknown): boolean {
  return INVALID_RESPONSE.test(findCriError(error)?.details ?? '');
}

/**
 * Reports whether nothing answered at the endpoint, the connection was lost during the call, or the runtime is still
 * starting (for which containerd before 2.0 has no status code of its own).
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof CriError && (error.grpcCode === 'UNAVAILABLE' || RUNTIME_STARTING.test(error.details))
  );
}
