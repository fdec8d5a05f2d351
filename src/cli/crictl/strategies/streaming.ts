import {UsageError} from '../../../base/errors.js';
import type {TlsOptions, Transport} from '../../../streaming/session.js';
import {tlsFiles, type StreamingFlagValues, type StreamingStrategy} from '../../flags/streaming-flags.js';

/** Returns the transport that crictl's flag selects. Throws UsageError. */
export function crictlTransport({transport = 'spdy'}: StreamingFlagValues): Transport {
  if (transport === 'auto' || transport === 'spdy' || transport === 'websocket') return transport;
  throw new UsageError(`unknown transport: ${transport}`);
}

/** Returns crictl's TLS options. Certificates are checked only if a file is given. Throws UsageError. */
export function crictlTlsOptions(flags: StreamingFlagValues): TlsOptions {
  const {serverName = 'localhost', ca, cert, key} = tlsFiles(flags);
  if (ca === undefined && cert === undefined && key === undefined) return {insecure: true};
  if (cert === undefined || key === undefined)
    throw new UsageError(
      'get TLS config from flags: all two flags --tls-ca and --tls-cert are required for TLS streaming, only --tls-key is optional',
    );
  return {serverName, ca, cert, key};
}

/** Transport and TLS options of crictl. */
export const CRICTL_STREAMING: StreamingStrategy = {tls: crictlTlsOptions, transport: crictlTransport};
