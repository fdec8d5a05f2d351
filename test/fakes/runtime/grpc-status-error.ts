import type {GrpcCode} from '../../../src/cri/errors.js';

/** gRPC status that a handler returns instead of a response. */
export class GrpcStatusError extends Error {
  readonly code: GrpcCode;

  constructor(code: GrpcCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns containerd's error for an unknown ID: NOT_FOUND, with a text that ends with `not found`. */
export const notFoundError = (message: string): GrpcStatusError =>
  new GrpcStatusError('NOT_FOUND', `${message}: not found`);

/** Returns a plain Go error, which containerd returns as UNKNOWN. */
export const unknownError = (message: string): GrpcStatusError => new GrpcStatusError('UNKNOWN', message);

export const unimplementedError = (rpc: string): GrpcStatusError =>
  new GrpcStatusError('UNIMPLEMENTED', `method ${rpc} not implemented`);

/** Converts any error to a gRPC status. Unexpected errors are UNKNOWN. */
export function toGrpcStatusError(error: unknown): GrpcStatusError {
  if (error instanceof GrpcStatusError) return error;
  return unknownError(error instanceof Error ? error.message : String(error));
}

/** Returns the code as in Go and the kubelet recordings: `NOT_FOUND` → `NotFound`. */
export function goCodeName(code: GrpcCode): string {
  if (code === 'OK') return code;
  if (code === 'CANCELLED') return 'Canceled';
  return code.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
}
