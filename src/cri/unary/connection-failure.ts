import type {CriFailure} from '../errors.js';
import type {ConnectionFailure} from '../http2/http2-stream.js';
import {CANCELLED, DIAL_ERRORS, dialDetails, prefaceDetails, SILENT_DETAILS} from '../transport.js';
import {ProtocolError} from '../http2/protocol-constants.js';

/**
 * Converts the failure of a connection to that of a call. `sent` is true if the runtime may have seen the request.
 */
export function toCallFailure(
  {kind, cause}: ConnectionFailure,
  socketPath: string,
  sent: boolean,
): Omit<CriFailure, 'endpoint' | 'method'> {
  const unavailable = (details: string) => ({
    grpcCode: 'UNAVAILABLE' as const,
    details,
    neverConnected: !sent,
    cause,
  });
  switch (kind) {
    case 'dial':
      return unavailable(dialDetails(socketPath, dialError(cause)));
    case 'silent':
      return unavailable(SILENT_DETAILS);
    case 'preface':
      return unavailable(prefaceDetails(cause instanceof ProtocolError ? cause.message : 'EOF'));
    case 'lost':
      return unavailable('Connection dropped');
    case 'protocol':
      return {grpcCode: 'INTERNAL', details: cause?.message ?? 'protocol error', cause};
    case 'closed':
      return CANCELLED;
    default:
      return kind satisfies never;
  }
}

function dialError(cause: Error | undefined): string {
  const errno = cause !== undefined && 'code' in cause ? String(cause.code) : '';
  return DIAL_ERRORS[errno] ?? cause?.message ?? 'EOF';
}
