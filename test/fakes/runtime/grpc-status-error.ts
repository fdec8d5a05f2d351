import type {GrpcCode} from '../../../src/cri/errors.js';

/** A gRPC status that a handler answers with instead of a response. */
export class GrpcStatusError extends Error {
  readonly code: GrpcCode;

  constructor(code: GrpcCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** containerd's refusal of an id that it doesn't know: NOT_FOUND, with `not found` at the end of its text. */
export const notFoundError = (message: string): GrpcStatusError =>
  new GrpcStatusError('NOT_FOUND', `${message}: not found`);

/** A plain Go error, which containerd answers as UNKNOWN. */
export const unknownError = (message: string): GrpcStatusError => new GrpcStatusError('UNKNOWN', message);

export const unimplementedError = (rpc: string): GrpcStatusError =>
  new GrpcStatusError('UNIMPLEMENTED', `method ${rpc} not implemented`);

/** Any error as a refusal: what wasn't meant to happen is UNKNOWN. */
export function toGrpcStatusError(error: unknown): GrpcStatusError {
  if (error instanceof GrpcStatusError) return error;
  return unknownError(error instanceof Error ? error.message : String(error));
}

/** The code as Go and the kubelet recordings write it: `NOT_FOUND` → `NotFound`. */
export function goCodeName(code: GrpcCode): string {
  if (code === 'OK') return code;
  if (code === 'CANCELLED') return 'Canceled';
  return code.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
}
