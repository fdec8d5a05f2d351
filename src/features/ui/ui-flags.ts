import * as Flags from '@oclif/core/flags';
import {isLoopback} from '../../base/net/proxy-variable.js';
import {isIP} from 'node:net';
import {UsageError} from '../../base/errors.js';
import {integerFlag, listFlag, nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import type {UiAction} from './protocol.js';

/** Actions that --allow permits. */
const UI_ACTIONS = ['exec', 'restart', 'delete'] as const satisfies readonly UiAction[];

/** Flags of `ui`. */
export const UI_FLAGS = {
  port: integerFlag({
    helpValue: 'N',
    default: 0,
    description: 'Port of the page. [default: any free port]',
  }),
  allow: withChoices(
    listFlag({
      helpValue: 'ACTION',
      description:
        'Let the page do this too: terminals in containers, restarts, deletions. Repeatable, or separated by commas. [default: read only]',
    }),
    UI_ACTIONS,
  ),
  ...nonEmptyFlags({
    listen: Flags.string({
      helpValue: 'IP',
      description: 'IP address to listen on. Other than loopback only with TLS. [default: 127.0.0.1]',
    }),
    'tls-cert-file': Flags.string({
      helpValue: 'FILE',
      description: 'Certificate of the page for TLS, in PEM; requires --tls-private-key-file.',
    }),
    'tls-private-key-file': Flags.string({
      helpValue: 'FILE',
      description: 'Private key of --tls-cert-file, in PEM.',
    }),
  }),
  seconds: integerFlag({
    char: 's',
    default: 2,
    helpValue: 'N',
    description:
      'Refresh interval, in seconds; longer if there are so many pods that it would take more than 1 % of a core. [default: 2]',
  }),
};

/** Values of the flags of `ui`. */
export interface UiFlagValues extends PodSelectionFlagValues {
  readonly port: number;
  readonly allow?: readonly string[] | undefined;
  readonly listen?: string | undefined;
  readonly 'tls-cert-file'?: string | undefined;
  readonly 'tls-private-key-file'?: string | undefined;
  readonly seconds: number;
}

/** Where and what `ui` serves. */
export interface UiOptions {
  readonly address: string;
  readonly port: number;
  /** Files of the certificate and its key; undefined without TLS. */
  readonly tls: {readonly certFile: string; readonly keyFile: string} | undefined;
  readonly allowed: readonly UiAction[];
  readonly pauseMs: number;
}

const MAX_PORT = 65_535;
/** Longest interval, in seconds. */
const MAX_SECONDS = 3600;

/** Checks the flags. Throws UsageError, also for an address other than loopback without TLS. */
export function parseUiFlags(flags: UiFlagValues): UiOptions {
  const {port, listen: address = '127.0.0.1', seconds, allow = []} = flags;
  if (port < 0 || port > MAX_PORT) throw new UsageError(`--port must be between 0 and ${MAX_PORT}`);
  if (seconds < 1 || seconds > MAX_SECONDS)
    throw new UsageError(`--seconds must be between 1 and ${MAX_SECONDS}`);
  const tls = parseTlsFiles(flags);
  checkAddress(address, tls !== undefined);
  return {address, port, tls, allowed: parseActions(allow), pauseMs: seconds * 1000};
}

function parseTlsFiles({
  'tls-cert-file': certFile,
  'tls-private-key-file': keyFile,
}: UiFlagValues): UiOptions['tls'] {
  if (certFile !== undefined && keyFile !== undefined) return {certFile, keyFile};
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new UsageError('--tls-cert-file and --tls-private-key-file must be set together');
}

function checkAddress(address: string, hasTls: boolean): void {
  if (isIP(address) === 0) throw new UsageError(`invalid --listen "${address}": it is not an IP address`);
  if (isLoopback(address) || hasTls) return;
  throw new UsageError(`--listen "${address}" requires --tls-cert-file and --tls-private-key-file`, {
    hint: 'without TLS others can read the page; or leave it on loopback, and forward its port with ssh -L',
  });
}

function parseActions(words: readonly string[]): readonly UiAction[] {
  const unknown = words.find((word) => !UI_ACTIONS.some((action) => action === word));
  if (unknown !== undefined)
    throw new UsageError(`invalid --allow "${unknown}"`, {hint: `use ${UI_ACTIONS.join(', ')}`});
  return UI_ACTIONS.filter((action) => words.includes(action));
}
