import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, integerFlag, kcriOnlyFlags, nonEmptyFlags, withChoices} from '../cli/flags/flag-types.js';
import {containerOrPodArgs} from '../cli/flags/positional-arguments.js';
import {LOG_STREAMS} from '../features/logs/log-strategy.js';
import {showContainerLogs} from '../features/logs/show-container-logs.js';
import {
  CONTAINER_SELECTION_LONG_FLAGS,
  parseContainerSelection,
  POD_CONTAINER_FLAG,
  SELECTOR_FLAG,
} from '../features/containers/select-containers.js';

export default class Logs extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Print container logs';
  static override description =
    'Reads the log files on this machine, or on a node with an ssh:// endpoint, including rotated ones. Lines that a container wrote to ' +
    'standard error are printed to standard error.\n\nLines of several containers are merged by time and ' +
    'prefixed with the container name. Filters select the latest attempt of each container. Of a pod, the ' +
    'log of its default container is printed; --pod selects all. Of a workload, such as deployment/web, one pod is ' +
    'chosen; --selector selects all pods that match.\n\nWith -f, ' +
    'logs are followed until the container exits. With --follow-restarts, kcri then waits for the next ' +
    "attempt, up to 330 seconds (the kubelet's maximum back-off). Ctrl-C exits with 0.";
  static override usage = 'logs [CONTAINER...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> logs -f web/nginx',
    '<%= config.bin %> logs --tail=20 --since=10m web',
    '<%= config.bin %> logs -f -l app=web',
  ];
  static override args = containerOrPodArgs;
  static override flags = {
    ...CONTAINER_SELECTION_LONG_FLAGS,
    ...POD_CONTAINER_FLAG,
    ...SELECTOR_FLAG,
    follow: Flags.boolean({char: 'f', description: 'Follow the log until the container exits.'}),
    ...kcriOnlyFlags({
      'follow-restarts': Flags.boolean({
        description: 'Follow the log across restarts of the container; implies --follow.',
      }),
      'max-log-requests': integerFlag({
        default: 5,
        helpValue: 'N',
        description: 'Follow at most N logs with --selector. [default: 5]',
      }),
    }),
    previous: Flags.boolean({
      char: 'p',
      description: 'Print the log of the previous attempt of the container.',
    }),
    reopen: Flags.boolean({char: 'r', description: 'Ask the runtime to reopen the log file first.'}),
    ...nonEmptyFlags({
      tail: integerFlag({
        helpValue: 'N',
        description: 'Print only the last N lines of each log. [default: all, or 10 with --selector]',
      }),
      'limit-bytes': integerFlag({
        default: -1,
        helpValue: 'N',
        description: 'Stop after N bytes. [default: no limit]',
      }),
      since: Flags.string({
        helpValue: 'TIME',
        description: 'Print only lines since this time, such as 10m, 2026-11-20T14:00:00Z or Unix seconds.',
      }),
      'since-time': Flags.string({helpValue: 'TIME', description: 'Same as --since.'}),
      until: Flags.string({helpValue: 'TIME', description: 'Print only lines until this time.'}),
      timestamps: Flags.boolean({char: 't', description: 'Prefix each line with its timestamp.'}),
      stream: withChoices(
        Flags.string({char: 's', helpValue: 'STREAM', description: 'Print only this stream.'}),
        LOG_STREAMS,
      ),
    }),
    ...FROM_FLAG,
    'no-prefix': Flags.boolean({description: 'Do not prefix the lines of several containers with names.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Logs);
    const selection = await parseContainerSelection(args.container, flags, {states: 'all'});
    await showContainerLogs(this.services, selection, flags);
  }
}
