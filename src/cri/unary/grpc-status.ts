import type {GrpcCode} from '../errors.js';
import {ERROR_CODE} from '../http2/protocol-constants.js';

/** Final status of a call. */
export interface GrpcStatus {
  readonly code: GrpcCode;
  readonly details: string;
}

const BY_HTTP_STATUS: Readonly<Record<number, GrpcCode>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/** Returns the status for an HTTP status without a gRPC status (grpc/doc/http-grpc-status-mapping.md). */
export function statusFromHttp(httpStatus: number): GrpcStatus {
  return {
    code: BY_HTTP_STATUS[httpStatus] ?? 'UNKNOWN',
    details: `Received HTTP status code ${httpStatus}`,
  };
}

/** Reset codes with a specific status, in the texts of grpc-js. */
const BY_RESET: Readonly<Record<number, GrpcStatus>> = {
  [ERROR_CODE.none]: {
    code: 'INTERNAL',
    details: 'Received RST_STREAM with code 0 (Call ended without gRPC status)',
  },
  [ERROR_CODE.internal]: {
    code: 'INTERNAL',
    details: 'Received RST_STREAM with code 2 (Internal server error)',
  },
  [ERROR_CODE.refusedStream]: {code: 'UNAVAILABLE', details: 'Stream refused by server'},
  [ERROR_CODE.cancel]: {code: 'CANCELLED', details: 'Call cancelled'},
  [ERROR_CODE.enhanceYourCalm]: {
    code: 'RESOURCE_EXHAUSTED',
    details: 'Bandwidth exhausted or memory limit exceeded',
  },
  [ERROR_CODE.inadequateSecurity]: {code: 'PERMISSION_DENIED', details: 'Protocol not secure enough'},
};

/** Returns the status of a call whose stream was reset by the server (grpc/doc/PROTOCOL-HTTP2.md, Errors). */
export function statusFromReset(code: number): GrpcStatus {
  return BY_RESET[code] ?? {code: 'INTERNAL', details: `Received RST_STREAM with code ${code}`};
}

/** Decodes a percent-encoded UTF-8 `grpc-message`; malformed escapes are left unchanged. */
export function decodeStatusMessage(value: string): string {
  const bytes = value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
