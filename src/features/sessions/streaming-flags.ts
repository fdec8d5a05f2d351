import * as Flags from '@oclif/core/flags';
import {UsageError} from '../../base/errors.js';
import type {TlsOptions, Transport} from '../../streaming/session/session.js';
import {unlessEmpty, withChoices} from '../../cli/flags/flag-types.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly streaming: StreamingStrategy;
  }
}

const TRANSPORTS: readonly Transport[] = ['auto', 'spdy', 'websocket'];

/** Flags of `exec`, `attach` and `port-forward` for the connection to the streaming server. */
export const STREAMING_FLAGS = {
  transport: withChoices(
    Flags.string({
      char: 'r',
      helpValue: 'PROTOCOL',
      description: 'Protocol for the streaming server; auto tries SPDY, then WebSocket. [default: auto]',
    }),
    TRANSPORTS,
  ),
  'tls-sni': Flags.string({
    aliases: ['tls-server-name'],
    helpValue: 'NAME',
    description:
      'Expected server name in the certificate of the streaming server. [default: the host in its URL]',
  }),
  'tls-ca': Flags.string({
    helpValue: 'FILE',
    description: 'CA bundle that verifies the certificate of the streaming server.',
  }),
  'tls-cert': Flags.string({
    helpValue: 'FILE',
    description: 'Client certificate for the streaming server; requires --tls-key.',
  }),
  'tls-key': Flags.string({helpValue: 'FILE', description: 'Private key of the client certificate.'}),
  'tls-skip-verify': Flags.boolean({
    description: 'Do not verify the certificate of the streaming server.',
  }),
};

/** Values of the streaming flags. */
export interface StreamingFlagValues {
  readonly transport?: string | undefined;
  readonly 'tls-sni'?: string | undefined;
  readonly 'tls-ca'?: string | undefined;
  readonly 'tls-cert'?: string | undefined;
  readonly 'tls-key'?: string | undefined;
  readonly 'tls-skip-verify'?: boolean | undefined;
}

/** Transport and TLS options, in which the dialects differ. */
export interface StreamingStrategy {
  tls(flags: StreamingFlagValues): TlsOptions;
  transport(flags: StreamingFlagValues): Transport;
}

/** Returns the transport that the flags select. Throws UsageError. */
export function parseTransport({transport = 'auto'}: StreamingFlagValues): Transport {
  const known = TRANSPORTS.find((name) => name === transport);
  if (known !== undefined) return known;
  throw new UsageError(`invalid --transport "${transport}": must be one of ${TRANSPORTS.join(', ')}`);
}

/** Returns how the streaming server's certificate is checked: always, unless a flag turns it off. Throws UsageError. */
export function tlsOptions(flags: StreamingFlagValues): TlsOptions {
  const files = tlsFiles(flags);
  if ((files.cert === undefined) !== (files.key === undefined))
    throw new UsageError('--tls-cert and --tls-key must be set together');
  return {...files, insecure: flags['tls-skip-verify'] ?? false};
}

/** kcri's transport and TLS options. */
export const KCRI_STREAMING: StreamingStrategy = {tls: tlsOptions, transport: parseTransport};

/** Returns server name and files of the TLS flags; an empty value counts as not set. */
export function tlsFiles(flags: StreamingFlagValues): Pick<TlsOptions, 'serverName' | 'ca' | 'cert' | 'key'> {
  return {
    serverName: unlessEmpty(flags['tls-sni']),
    ca: unlessEmpty(flags['tls-ca']),
    cert: unlessEmpty(flags['tls-cert']),
    key: unlessEmpty(flags['tls-key']),
  };
}
