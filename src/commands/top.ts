import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {integerFlag} from '../cli/flags/flag-types.js';
import {POD_SELECTION_FLAGS} from '../features/pods/pod-selection-flags.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {showTop} from '../features/top/show-top.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Top extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Show live status and resource usage of pods';
  static override description =
    'Shows pods and their containers: state, restarts, probe results, CPU, memory, and ' +
    'recent events; if a kubelet gave containers CPUs of their own, also these. CPU usage is a percentage of one core. On a terminal it fills the screen; press ? ' +
    'for its keys.\n\nIn the full screen, rows can be sorted and filtered, and the selected row leads to ' +
    'logs, events, the description, a shell, restart and deletion. A terminal without a full screen ' +
    '(TERM=linux) shows a table that is refreshed until interrupted, and one without control sequences (TERM=dumb) ' +
    'prints it again and again; with --once, in a pipe and with other formats it is printed once. NO_COLOR turns colors off.\n\nOf a remote node ' +
    '(--runtime-endpoint=ssh://HOST) it shows what the runtime knows. With several endpoints, all nodes are ' +
    'shown together with a column NODE; a node that fails is reported and tried again.';
  static override usage = 'top [POD...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> top web --seconds=5',
    '<%= config.bin %> top --once -o json',
    '<%= config.bin %> top -r ssh://node1 -r ssh://node2',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    seconds: integerFlag({
      char: 's',
      default: 2,
      helpValue: 'N',
      description: 'Refresh interval, in seconds. [default: 2]',
    }),
    once: Flags.boolean({description: 'Print once, even on a terminal.'}),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Top);
    if (flags.seconds < 1) throw new UsageError('--seconds must be 1 or more');
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    await showTop(this.services, {
      words: argv as string[],
      flags,
      pauseMs: flags.seconds * 1000,
      once: flags.once || form.kind !== 'table' || !this.out.stdout.isTerminal,
      form,
    });
  }
}
