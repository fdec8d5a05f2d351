import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {durationFlag, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {TARGET_ARGS, TARGET_FLAGS} from '../features/targets/target-flags.js';
import {NO_HEADERS_FLAG, outputFlags} from '../cli/output/parse-output-format.js';
import {runWait, WAIT_FORMATS} from '../features/wait/run-wait.js';

export default class Wait extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Wait for a condition of pods and containers';
  static override description =
    'Waits until all targets meet the condition: a condition of a pod such as Ready, ContainersReady or Initialized ' +
    '(of a container: Ready or Started), Available of a Deployment, Complete or Failed of a Job, a value in the pod, an exit, a line of the log, the creation or the deletion. With exit, prints ' +
    'the exit codes of the container, or of all containers of the pod, as "docker wait" does; with log, prints the line ' +
    'that matches. If a container has exited and is not restarted, the wait fails at once; exit code 124 means that the ' +
    'time limit has expired.\n\n' +
    'Probes of pods that kcri did not create, and of pods on remote nodes, are unknown: their running containers are ' +
    'ready, unless the kubelet of this machine answers. All lines of the log of the current instance are searched unless ' +
    '--since is given, and those of later instances. A pod or container that does not exist has been deleted.';
  static override usage = 'wait TARGET... --for=CONDITION [FLAGS]';
  static override examples = [
    '<%= config.bin %> wait pod/web --for=condition=Ready --timeout=2m',
    '<%= config.bin %> wait job/main --for=exit --exit-code',
    "<%= config.bin %> wait db -c postgres --for=log='ready to accept connections'",
  ];
  static override args = TARGET_ARGS;
  static override flags = {
    ...TARGET_FLAGS,
    ...nonEmptyFlags({
      for: Flags.string({
        helpValue: 'CONDITION',
        description:
          'Condition: condition=NAME[=VALUE], jsonpath=PATH[=VALUE], exit, log=REGEX, create or delete.',
      }),
      since: Flags.string({
        helpValue: 'TIME',
        description: 'Search only log lines since this time, such as 10m or 2026-11-20T14:00:00Z.',
      }),
    }),
    all: Flags.boolean({description: 'Wait for all pods.'}),
    timeout: durationFlag({
      default: 30_000,
      helpValue: 'DURATION',
      description: 'Time limit; 0 checks once, -1 means none. [default: 30s]',
    }),
    'exit-code': Flags.boolean({
      description: 'With --for=exit, exit with the first exit code that is not 0.',
    }),
    ...NO_HEADERS_FLAG,
    ...outputFlags(WAIT_FORMATS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Wait);
    await runWait(this.services, args.target ?? [], flags);
  }
}
