import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {execInContainers} from '../features/exec/exec-in-containers.js';
import {CONTAINER_FILTERS, CONTAINER_STATE_CHOICES} from '../features/containers/filter-flags.js';
import {integerFlag, nonEmptyFlags, withChoices} from '../cli/flags/flag-types.js';
import {SESSION_FLAGS} from '../features/sessions/session-flags.js';
import {LONG_SELECTOR_FLAG, POD_CONTAINER_FLAG} from '../features/containers/select-containers.js';

export default class Exec extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Run a command in a container';
  static override description =
    'Exits with the exit code of the command: 128 + n if signal n killed it, 127 if it does not exist, ' +
    '126 if it is not executable. Flags must precede the container (or the command, if filters select ' +
    'the containers).\n\nWith filters, the command runs in every matching container, one after the ' +
    'other. In a pod, it runs in the container named by --container, or else by the annotation ' +
    'kubectl.kubernetes.io/default-container, or in the first one. Of a workload, such as deployment/web, one pod is ' +
    'chosen; with --selector, the command runs in each pod that matches. -l is --latest, as in crictl.\n\nWhether the command continues after kcri disconnects (Ctrl-C without -t, --timeout, ' +
    'detach keys) depends on the runtime: containerd 1.6 leaves it running, containerd 2.1 kills ' +
    'it.\n\nCRI has no user, environment or working directory for a command. --user, --env and --workdir ' +
    'therefore run the command through programs of the container: env, sh, and one of chroot, ' +
    'setuidgid, su-exec, gosu and su.';
  static override usage = 'exec [FLAGS] [CONTAINER] COMMAND [ARG...]';
  static override examples = [
    '<%= config.bin %> exec -it web sh',
    '<%= config.bin %> exec deployment/web -- sh -c "ls /"',
    '<%= config.bin %> exec -x --selector=app=web hostname',
  ];
  static override strict = false;
  static override args = {
    container: Args.string({
      ignoreStdin: true,
      description:
        'ID, ID prefix, name, or POD/NAME of the container; or a pod, or a workload such as deployment/web.',
    }),
    command: Args.string({ignoreStdin: true, multiple: true, description: 'Command and its arguments.'}),
  };
  static override flags = {
    ...CONTAINER_FILTERS,
    ...POD_CONTAINER_FLAG,
    ...LONG_SELECTOR_FLAG,
    ...nonEmptyFlags({
      state: withChoices(
        Flags.string({
          helpValue: 'STATE',
          description: 'Select only containers in this state. [default: running]',
        }),
        CONTAINER_STATE_CHOICES,
      ),
    }),
    interactive: Flags.boolean({char: 'i', description: 'Pass standard input to the command.'}),
    tty: Flags.boolean({char: 't', description: 'Allocate a terminal for the command.'}),
    sync: Flags.boolean({
      char: 's',
      description:
        'Run the command with ExecSync: without input, printing its output (up to 16 MiB) when it exits.',
    }),
    timeout: integerFlag({
      default: 0,
      helpValue: 'SECONDS',
      description: 'Time limit in seconds. With --sync, the runtime kills the command. [default: none]',
    }),
    user: Flags.string({
      helpValue: 'USER[:GROUP]',
      description: 'Run the command as a user, by name or number.',
    }),
    env: Flags.string({
      multiple: true,
      helpValue: 'NAME=VALUE',
      description: 'Set an environment variable for the command. Can be repeated.',
    }),
    workdir: Flags.string({helpValue: 'DIR', description: 'Working directory of the command.'}),
    quiet: Flags.boolean({char: 'q', description: 'Do not print which container the output is from.'}),
    'ignore-errors': Flags.boolean({char: 'e', description: 'Exit with 0 even if the command fails.'}),
    parallel: Flags.boolean({
      char: 'x',
      description: 'Run in all selected containers at once, prefixing each line with the container name.',
    }),
    ...SESSION_FLAGS,
  };

  static override flagsEndAfter = (): boolean => true;

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Exec);
    const exec = await this.dialect.strategy('exec', execInContainers);
    await exec(this.services, argv as string[], flags);
    if (flags['ignore-errors']) this.report.resetExitCode();
  }
}
