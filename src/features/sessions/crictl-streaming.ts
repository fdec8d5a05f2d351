import {accessSync, constants} from 'node:fs';
import {KcriError, UsageError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {StreamingError} from '../../streaming/session/errors.js';
import type {TlsOptions, Transport} from '../../streaming/session/session.js';
import {tlsFiles, type StreamingFlagValues, type StreamingStrategy} from './streaming-flags.js';

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

/** Contexts of the errors of a client: of all, and of its files over SPDY. */
interface ClientContext {
  readonly client: string;
  readonly spdyFiles: string;
}

/**
 * Checks the transport and the TLS files as crictl does when it creates its client, after the runtime has accepted the
 * request. Throws StreamingError.
 */
export function checkCrictlClient(flags: StreamingFlagValues, {client, spdyFiles}: ClientContext): void {
  try {
    const files =
      crictlTransport(flags) === 'websocket' ? 'error creating websocket transports: ' : spdyFiles;
    const {ca, cert, key} = tlsFiles(flags);
    for (const path of [ca, cert, key]) if (path !== undefined) checkReadable(path, files);
  } catch (error) {
    if (error instanceof KcriError) throw new StreamingError(`${client}: ${error.message}`, {cause: error});
    throw error;
  }
}

function checkReadable(path: string, context: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new StreamingError(`${context}open ${path}: ${systemErrorMessage(error)}`, {cause: error});
  }
}

/** Transport and TLS options of crictl. */
export const CRICTL_STREAMING: StreamingStrategy = {tls: crictlTlsOptions, transport: crictlTransport};
