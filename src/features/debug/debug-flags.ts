import * as Flags from '@oclif/core/flags';
import {DEBUG_PROFILES} from '../../operations/debug/debug-profiles.js';
import {listFlag, nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';
import {POD_FLAGS} from '../manifests/pod-flags.js';
import {PULL_FLAGS} from '../pull/pull-flags.js';
import {ATTACHED_CONTAINER_FLAGS, PULL_POLICY_FLAG} from '../run/run-flags.js';
import {SESSION_FLAGS, type SessionFlagValues} from '../sessions/session-flags.js';
import type {PullFlags} from '../pull/pull-options.js';

/** Flags of `debug`. */
export const DEBUG_FLAGS = {
  ...ATTACHED_CONTAINER_FLAGS,
  ...nonEmptyFlags({
    image: Flags.string({
      helpValue: 'IMAGE',
      description: 'Image of the debug container. Required unless --copy-to or --node is given.',
    }),
    target: Flags.string({
      helpValue: 'NAME',
      description:
        "Container of the pod whose processes the debug container sees. [default: the annotated one, or the pod's first]",
    }),
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      description:
        'Name of the debug container; with --copy-to also of an existing container, which is changed. [default: debugger-…]',
    }),
    'copy-to': Flags.string({
      helpValue: 'NAME',
      description: 'Debug a copy of the pod with this name, which "kcri delete" deletes.',
    }),
  }),
  profile: withChoices(
    Flags.string({
      helpValue: 'PROFILE',
      description:
        'Security settings, as those of kubectl debug. [default: general, or sysadmin with --node]',
    }),
    DEBUG_PROFILES,
  ),
  keep: Flags.boolean({description: 'Keep the debug container after its exit, for its log.'}),
  'set-image': listFlag({
    helpValue: 'CONTAINER=IMAGE',
    description: 'Image of a container of the copy; * stands for all. Can be repeated.',
  }),
  'share-processes': Flags.boolean({
    default: true,
    description:
      'Let the containers of the copy see the processes of each other; =false to turn it off. [default: true]',
  }),
  replace: Flags.boolean({
    description: 'Delete the original pod, created by kcri, before its copy is started.',
  }),
  node: Flags.boolean({
    description:
      'Run in the namespaces of the node, with its files in /host. Without --image, runs a shell of the node.',
  }),
  pull: PULL_POLICY_FLAG,
  ...PULL_FLAGS,
  'detach-keys': SESSION_FLAGS['detach-keys'],
  'pod-logs-dir': POD_FLAGS['pod-logs-dir'],
  'cgroup-root': POD_FLAGS['cgroup-root'],
};

/** Values of the flags of `debug`. */
export interface DebugFlags extends SessionFlagValues, PullFlags {
  readonly interactive: boolean;
  readonly tty: boolean;
  readonly env?: readonly string[] | undefined;
  readonly image?: string | undefined;
  readonly target?: string | undefined;
  readonly container?: string | undefined;
  readonly 'copy-to'?: string | undefined;
  readonly profile?: string | undefined;
  readonly keep: boolean;
  readonly 'set-image'?: readonly string[] | undefined;
  readonly 'share-processes': boolean;
  readonly replace: boolean;
  readonly node: boolean;
  readonly pull?: string | undefined;
  readonly 'pod-logs-dir'?: string | undefined;
  readonly 'cgroup-root'?: string | undefined;
}
