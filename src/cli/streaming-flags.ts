import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import type {TlsOptions, Transport} from '../streaming/session.js';

/** How `exec`, `attach` and `port-forward` reach the runtime's streaming server. */
export const STREAMING_FLAGS = {
  transport: Flags.string({
    char: 'r',
    helpValue: 'auto|spdy|websocket',
    description:
      'Protocol to the streaming server. [default: SPDY, then WebSocket where the server takes nothing else]',
  }),
  'tls-sni': Flags.string({
    aliases: ['tls-server-name'],
    helpValue: 'NAME',
    description: "Name that the streaming server's certificate must be for. [default: its URL's host]",
  }),
  'tls-ca': Flags.string({
    helpValue: 'FILE',
    description: "PEM file of the authorities that may have signed the streaming server's certificate.",
  }),
  'tls-cert': Flags.string({
    helpValue: 'FILE',
    description: 'PEM file of the certificate to show to the streaming server; needs --tls-key.',
  }),
  'tls-key': Flags.string({helpValue: 'FILE', description: "PEM file of that certificate's key."}),
  'tls-skip-verify': Flags.boolean({
    description: "Take any certificate of the streaming server's, as crictl does unless told otherwise.",
  }),
};

/** The values of these flags. */
export interface StreamingFlagValues {
  readonly transport?: string | undefined;
  readonly 'tls-sni'?: string | undefined;
  readonly 'tls-ca'?: string | undefined;
  readonly 'tls-cert'?: string | undefined;
  readonly 'tls-key'?: string | undefined;
  readonly 'tls-skip-verify'?: boolean | undefined;
}

const TRANSPORTS: readonly Transport[] = ['auto', 'spdy', 'websocket'];

/** The transport that the flags choose. Throws UsageError. */
export function transportOf(
  {transport}: StreamingFlagValues,
  {compat}: {readonly compat: boolean},
): Transport {
  const chosen = TRANSPORTS.find((name) => name === (transport ?? (compat ? 'spdy' : 'auto')));
  if (chosen !== undefined) return chosen;
  throw new UsageError(
    compat
      ? `unknown transport: ${transport ?? ''}`
      : `--transport should be one of ${TRANSPORTS.join(', ')}, and is "${transport ?? ''}"`,
  );
}

/**
 * How the streaming server's certificate is checked: always, unless told otherwise; in crictl's way only when a
 * file is named. Throws UsageError.
 */
export function tlsOptions(flags: StreamingFlagValues, {compat}: {readonly compat: boolean}): TlsOptions {
  const [ca, cert, key] = [flags['tls-ca'], flags['tls-cert'], flags['tls-key']].map(named);
  const serverName = named(flags['tls-sni']);
  if (compat) return crictlTlsOptions({serverName, ca, cert, key});
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('--tls-cert and --tls-key need each other');
  return {serverName, ca, cert, key, insecure: flags['tls-skip-verify'] ?? false};
}

function crictlTlsOptions({serverName = 'localhost', ca, cert, key}: TlsOptions): TlsOptions {
  if (ca === undefined && cert === undefined && key === undefined) return {insecure: true};
  if (cert === undefined || key === undefined)
    throw new UsageError(
      'get TLS config from flags: all two flags --tls-ca and --tls-cert are required for TLS streaming, only --tls-key is optional',
    );
  return {serverName, ca, cert, key};
}

const named = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
