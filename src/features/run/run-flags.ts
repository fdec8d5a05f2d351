import * as Flags from '@oclif/core/flags';
import {kcriOnlyFlags, listFlag, nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';
import {PULL_FLAGS, PULL_ON_CREATE_FLAGS, RUN_USERNAME_FLAG, RUNTIME_FLAG} from '../pull/pull-flags.js';
import {ISOLATION_FLAGS, type IsolationFlags} from './isolation-flags.js';
import {SESSION_FLAGS, type SessionFlagValues} from '../sessions/session-flags.js';

/** Flags of an interactive container, shared by `run` and `debug`. */
export const ATTACHED_CONTAINER_FLAGS = {
  interactive: Flags.boolean({char: 'i', description: 'Pass standard input to the container.'}),
  tty: Flags.boolean({char: 't', description: 'Allocate a terminal for the container.'}),
  env: Flags.string({
    char: 'e',
    multiple: true,
    helpValue: 'NAME[=VALUE]',
    description:
      'Set an environment variable; a name alone takes the value from the environment of kcri. Can be repeated.',
  }),
};

/** Flag `--pull` of `run` and `debug`. */
export const PULL_POLICY_FLAG = withChoices(
  Flags.string({
    aliases: ['image-pull-policy'],
    helpValue: 'POLICY',
    description: 'When to pull the image. [default: missing]',
  }),
  ['missing', 'always', 'never'],
);

/** Flags of `run` with config files, as in crictl. */
export const CONFIG_RUN_FLAGS = {
  ...PULL_FLAGS,
  username: RUN_USERNAME_FLAG,
  ...PULL_ON_CREATE_FLAGS,
  runtime: RUNTIME_FLAG,
};

/** Flags of `run` with an image. */
export const IMAGE_RUN_FLAGS = kcriOnlyFlags({
  ...ATTACHED_CONTAINER_FLAGS,
  detach: Flags.boolean({char: 'd', description: 'Print the ID of the container and leave it running.'}),
  rm: Flags.boolean({description: 'Remove the pod and its log when the container exits.'}),
  ...nonEmptyFlags({
    name: Flags.string({
      helpValue: 'NAME',
      description: 'Name of the pod and of its container. [default: from the image]',
    }),
    volume: Flags.string({
      char: 'v',
      multiple: true,
      helpValue: 'HOST:CONTAINER[:ro]',
      description:
        'Mount a file or directory of the host, which must exist; ./DIR is relative to the working directory. Can be repeated.',
    }),
    publish: Flags.string({
      char: 'p',
      multiple: true,
      helpValue: '[IP:]HOST:CONTAINER[/PROTOCOL]',
      description: 'Publish a port of the container on the host. Can be repeated.',
    }),
    'env-file': Flags.string({
      multiple: true,
      helpValue: 'FILE',
      description: 'Set the variables of a file with NAME=VALUE lines. Can be repeated.',
    }),
    workdir: Flags.string({char: 'w', helpValue: 'DIR', description: 'Working directory in the container.'}),
    user: Flags.string({
      char: 'u',
      helpValue: 'USER[:GROUP]',
      description: 'Run as a UID or a user of the image, and as a GID. With config files, -u is --username.',
    }),
    hostname: Flags.string({helpValue: 'NAME', description: 'Host name. [default: the name of the pod]'}),
    label: listFlag({
      char: 'l',
      helpValue: 'KEY=VALUE',
      description: 'Label of the pod and the container. Can be repeated.',
    }),
    network: withChoices(
      Flags.string({
        aliases: ['net'],
        helpValue: 'MODE',
        description: "Network: pod for one of the pod's own, host for that of the node. [default: pod]",
      }),
      ['pod', 'host'],
    ),
    restart: withChoices(
      Flags.string({
        helpValue: 'POLICY',
        description: 'Restart policy: kcri does not restart the container.',
      }),
      ['no'],
    ),
    cidfile: Flags.string({
      helpValue: 'FILE',
      description: 'Write the ID of the container to a file, which must not exist.',
    }),
  }),
  ...ISOLATION_FLAGS,
  pull: PULL_POLICY_FLAG,
  entrypoint: Flags.string({
    helpValue: 'PROGRAM',
    description: 'Program to run in place of the entrypoint of the image; empty to remove it.',
  }),
  privileged: Flags.boolean({description: 'Give the container all capabilities and devices of the node.'}),
  'read-only': Flags.boolean({description: 'Mount the root filesystem of the container read-only.'}),
  'detach-keys': SESSION_FLAGS['detach-keys'],
});

/** Values of the flags of `run` with an image. */
export interface ImageRunFlags extends SessionFlagValues, IsolationFlags {
  readonly interactive: boolean;
  readonly tty: boolean;
  readonly detach: boolean;
  readonly rm: boolean;
  readonly name?: string | undefined;
  readonly volume?: readonly string[] | undefined;
  readonly publish?: readonly string[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly 'env-file'?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  readonly hostname?: string | undefined;
  readonly label?: readonly string[] | undefined;
  readonly network?: string | undefined;
  readonly pull?: string | undefined;
  readonly entrypoint?: string | undefined;
  readonly privileged: boolean;
  readonly 'read-only': boolean;
  readonly restart?: string | undefined;
  readonly cidfile?: string | undefined;
}
