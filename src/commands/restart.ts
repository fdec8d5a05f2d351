import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {durationFlag, integerFlag} from '../cli/flags/flag-types.js';
import {TARGET_ARGS, TARGET_FLAGS} from '../features/targets/target-flags.js';
import {NO_HEADERS_FLAG, outputFlags} from '../cli/output/parse-output-format.js';
import {RESTART_FORMATS, RESTART_WAIT_MS, runRestart} from '../features/restart/run-restart.js';

export default class Restart extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Restart containers';
  static override description =
    'A container whose pod a kubelet or a running "kcri sync" manages is stopped, and that process starts the next instance; ' +
    'the command waits for it. Containers that are not restarted (restartPolicy Never) are an error. Other containers are ' +
    'replaced by a new instance with the same config, since the CRI cannot start a container twice: it is created before ' +
    'the old one is stopped, so that a failure changes nothing. Of a pod, all containers are restarted except init ' +
    'containers.\n\n' +
    'A pod whose "kcri sync" has ended, or whose kcri kubelet does not run, has no manager: kcri replaces its containers.';
  static override usage = 'restart TARGET... [FLAGS]';
  static override examples = [
    '<%= config.bin %> restart web/nginx',
    '<%= config.bin %> restart pod/web --timeout=30',
    '<%= config.bin %> restart -l app=web -q',
  ];
  static override args = TARGET_ARGS;
  static override flags = {
    ...TARGET_FLAGS,
    timeout: integerFlag({
      char: 't',
      helpValue: 'SECONDS',
      description:
        "Time for a container to exit before it is killed. [default: the pod's grace period, or 10]",
    }),
    wait: durationFlag({
      default: RESTART_WAIT_MS,
      helpValue: 'DURATION',
      description: 'Time for a kubelet or "kcri sync" to start the next instance. [default: 5m30s]',
    }),
    'keep-old': Flags.boolean({description: 'Keep the stopped instance of containers that kcri replaces.'}),
    quiet: Flags.boolean({char: 'q', description: 'Print only the IDs of the new instances.'}),
    ...NO_HEADERS_FLAG,
    ...outputFlags(RESTART_FORMATS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Restart);
    if (flags.timeout !== undefined && flags.timeout < 0)
      throw new UsageError('--timeout must not be negative');
    await runRestart(this.services, args.target ?? [], flags);
  }
}
