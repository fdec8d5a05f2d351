import * as Flags from '@oclif/core/flags';
import {messageOf} from '../../base/errors.js';
import type {Credentials} from '../../operations/images/pull-image.js';
import {durationFlag, durationMs} from '../../cli/flags/flag-types.js';
import {FlagError} from '../../cli/parsing/usage-errors.js';

const USERNAME = {
  helpValue: 'USER',
  description: 'User name for the registry; the password is read from the terminal or from a pipe.',
};

/** Flag `--username` of `run`: under the name kcri, its `-u` is that of another flag. */
export const RUN_USERNAME_FLAG = Flags.string({...USERNAME, charAliases: ['u']});

/** Flags of `pull`, `create` and `run` for pulling images. */
export const PULL_FLAGS = {
  creds: Flags.string({
    helpValue: 'USER[:PASSWORD]',
    description: 'Credentials for the registry. [env: CRICTL_CREDS]',
  }),
  auth: Flags.string({
    helpValue: 'BASE64',
    description: 'Credentials for the registry, base64-encoded. [env: CRICTL_AUTH]',
  }),
  username: Flags.string({char: 'u', ...USERNAME}),
  'auth-file': Flags.string({
    helpValue: 'FILE',
    description:
      'Registry credentials file in the format of Docker or Podman. [default: $REGISTRY_AUTH_FILE, or ' +
      'the files of Docker and Podman]',
  }),
  'no-auth-file': Flags.boolean({description: 'Do not read credentials files.'}),
  'pull-timeout': durationFlag({
    aliases: ['pt'],
    helpValue: 'DURATION',
    description: 'Time limit for pulling an image. [env: CRICTL_PULL_TIMEOUT] [default: none]',
  }),
};

/** Flag `--runtime` of `run` and `runp`. */
export const RUNTIME_FLAG = Flags.string({
  char: 'r',
  default: '',
  helpValue: 'HANDLER',
  description: 'Runtime handler of the pod. [default: the default handler of the runtime]',
});

/** Flag `--cancel-timeout`. */
export const CANCEL_TIMEOUT_FLAG = durationFlag({
  char: 'T',
  helpValue: 'DURATION',
  description: 'Timeout of a call to the runtime. [default: --timeout]',
});

/** Flags of `create` and `run` that control pulling. */
export const PULL_ON_CREATE_FLAGS = {
  'no-pull': Flags.boolean({description: 'Do not pull images, whatever the config file says.'}),
  'with-pull': Flags.boolean({description: 'Pull images first, whatever the config file says.'}),
  'cancel-timeout': CANCEL_TIMEOUT_FLAG,
};

type Env = Readonly<Record<string, string | undefined>>;

/** Values of the flags for credentials files of Docker and Podman. */
export interface AuthFileFlags {
  readonly 'auth-file'?: string | undefined;
  readonly 'no-auth-file'?: boolean;
}

/** Returns the credentials from the flags or else from the environment. */
export function resolveCredentials(flags: Credentials, env: Env): Credentials {
  return {
    creds: flags.creds ?? env['CRICTL_CREDS'],
    auth: flags.auth ?? env['CRICTL_AUTH'],
    username: flags.username,
  };
}

/** Returns the timeout of a pull in ms: flag, environment, none. Throws FlagError. */
export function resolvePullTimeoutMs(
  flags: {readonly 'pull-timeout'?: number | undefined},
  env: Env,
): number | undefined {
  const value = env['CRICTL_PULL_TIMEOUT'];
  if (flags['pull-timeout'] !== undefined || value === undefined || value === '')
    return flags['pull-timeout'];
  try {
    return durationMs(value);
  } catch (error) {
    throw new FlagError(`invalid CRICTL_PULL_TIMEOUT "${value}": ${messageOf(error)}`, {cause: error});
  }
}
