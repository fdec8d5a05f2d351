import * as Flags from '@oclif/core/flags';
import {messageOf, UsageError} from '../base/errors.js';
import type {Credentials} from '../operations/pull.js';
import {durationFlag, durationMs} from './flags.js';
import {FlagError} from './usage-errors.js';

/** How `pull`, `create` and `run` get images. */
export const PULL_FLAGS = {
  creds: Flags.string({
    helpValue: 'USER[:PASSWORD]',
    description: 'Credentials for the registry. [env: CRICTL_CREDS]',
  }),
  auth: Flags.string({
    helpValue: 'BASE64',
    description: 'The same as base64. [env: CRICTL_AUTH]',
  }),
  username: Flags.string({
    char: 'u',
    description: 'User for the registry; the password is asked for, or read from a pipe.',
  }),
  'auth-file': Flags.string({
    helpValue: 'FILE',
    description:
      "File with credentials for registries, docker's config.json or podman's auth.json. [default: " +
      '$REGISTRY_AUTH_FILE, or both of these where docker and podman keep them]',
  }),
  'no-auth-file': Flags.boolean({description: 'Use no credentials but those given here.'}),
  'pull-timeout': durationFlag({
    aliases: ['pt'],
    helpValue: 'DURATION',
    description: 'How long a pull may take. [env: CRICTL_PULL_TIMEOUT] [default: as long as it takes]',
  }),
};

/** `--runtime` of `run` and `runp`. */
export const RUNTIME_FLAG = Flags.string({
  char: 'r',
  default: '',
  helpValue: 'HANDLER',
  description: "Runtime handler for a pod config. [default: the runtime's]",
});

/** `--cancel-timeout`. */
export const CANCEL_TIMEOUT_FLAG = durationFlag({
  char: 'T',
  helpValue: 'DURATION',
  description: 'How long one call to the runtime may take. [default: as --timeout]',
});

/** The flags of `create` and `run` that say whether to pull. */
export const WHETHER_TO_PULL = {
  'no-pull': Flags.boolean({description: 'Use the images that are there, whatever the config file says.'}),
  'with-pull': Flags.boolean({description: 'Pull images first, whatever the config file says.'}),
  'cancel-timeout': CANCEL_TIMEOUT_FLAG,
};

interface WhetherToPull {
  readonly 'no-pull': boolean;
  readonly 'with-pull': boolean;
}

/** Whether to pull, by the flags or else by the config file. Throws UsageError for both flags at once. */
export function wantsPull(flags: WhetherToPull, configured: boolean): boolean {
  if (flags['no-pull'] && flags['with-pull'])
    throw new UsageError('conflict: no-pull and with-pull are both set');
  return flags['with-pull'] || (configured && !flags['no-pull']);
}

type Env = Readonly<Record<string, string | undefined>>;

/** The values of the flags for credentials that docker or podman keep. */
export interface AuthFileFlags {
  readonly 'auth-file'?: string | undefined;
  readonly 'no-auth-file'?: boolean;
}

/** The credentials in the flags, else in the environment. */
export function credentials(flags: Credentials, env: Env): Credentials {
  return {
    creds: flags.creds ?? env['CRICTL_CREDS'],
    auth: flags.auth ?? env['CRICTL_AUTH'],
    username: flags.username,
  };
}

/** The time limit of a pull in milliseconds: flag, environment, none. Throws FlagError. */
export function pullTimeoutMs(
  flags: {readonly 'pull-timeout'?: number | undefined},
  {env, compat}: {readonly env: Env; readonly compat: boolean},
): number | undefined {
  const given = env['CRICTL_PULL_TIMEOUT'];
  if (flags['pull-timeout'] !== undefined || given === undefined || given === '')
    return flags['pull-timeout'];
  try {
    return durationMs(given);
  } catch (error) {
    const own = `invalid value "${given}" of CRICTL_PULL_TIMEOUT: ${messageOf(error)}`;
    const crictls = `could not parse "${given}" as duration value from environment variable "CRICTL_PULL_TIMEOUT" for flag pull-timeout: time: invalid duration "${given}"`;
    throw new FlagError(compat ? crictls : own, {cause: error});
  }
}
