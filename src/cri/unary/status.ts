import type {GrpcCode} from '../errors.js';
import {ERROR} from '../http2/protocol.js';

/** How a call ended. */
export interface Status {
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

/** The status of an answer that has none of gRPC's (grpc/doc/http-grpc-status-mapping.md). */
export function statusOfHttp(httpStatus: number): Status {
  return {
    code: BY_HTTP_STATUS[httpStatus] ?? 'UNKNOWN',
    details: `Received HTTP status code ${httpStatus}`,
  };
}

/** Codes that say more than that something went wrong, in grpc-js's words. */
const BY_RESET: Readonly<Record<number, Status>> = {
  [ERROR.none]: {
    code: 'INTERNAL',
    details: 'Received RST_STREAM with code 0 (Call ended without gRPC status)',
  },
  [ERROR.internal]: {
    code: 'INTERNAL',
    details: 'Received RST_STREAM with code 2 (Internal server error)',
  },
  [ERROR.refusedStream]: {code: 'UNAVAILABLE', details: 'Stream refused by server'},
  [ERROR.cancel]: {code: 'CANCELLED', details: 'Call cancelled'},
  [ERROR.enhanceYourCalm]: {
    code: 'RESOURCE_EXHAUSTED',
    details: 'Bandwidth exhausted or memory limit exceeded',
  },
  [ERROR.inadequateSecurity]: {code: 'PERMISSION_DENIED', details: 'Protocol not secure enough'},
};

/** The status of a call whose stream the server reset (grpc/doc/PROTOCOL-HTTP2.md, Errors). */
export function statusOfReset(code: number): Status {
  return BY_RESET[code] ?? {code: 'INTERNAL', details: `Received RST_STREAM with code ${code}`};
}

/** The text of a `grpc-message`: UTF-8, of which any byte may be written as `%XX`. What is malformed stays. */
export function decodeStatusMessage(value: string): string {
  const bytes = value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
