import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG} from '../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags} from '../cli/output/parse-output-format.js';
import {exitCodeOf} from '../cli/output/render-error.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {TARGET_ARGS, TARGET_FLAGS} from '../features/targets/target-flags.js';
import {WHY_FORMATS} from '../features/why/answer.js';
import {runWhy} from '../features/why/run-why.js';

export default class Why extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Explain why pods and containers do not run';
  static override description =
    'Prints for each pod or container, whichever program manages it: its state, the cause, the evidence, the last lines of ' +
    'its log, what happens next and when, and what to do. Without names, or for "node" or the name of the node, prints what ' +
    'is wrong with the runtime and the kubelet, and a line about each pod that is not well.\n\n' +
    'A cause that no component reports is marked as inferred, with the facts that it is inferred from. What could not be ' +
    'read is listed with the reason. Probes, back-offs and events are known of pods of kcri only; those of another kubelet ' +
    'are explained by what the runtime, the kernel and its API know. Changes nothing.\n\n' +
    'With several --runtime-endpoint or --from, prints a table with the answer of each node, and then what is wrong on each.\n\n' +
    'Exits with 0 if nothing is wrong or a pod has only not finished its start, with 1 if something is wrong, and with 2 if ' +
    'it cannot answer, such as for a pod that does not exist.';
  static override usage = 'why [TARGET...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> why web',
    '<%= config.bin %> why default/web/server -o json',
    '<%= config.bin %> why -r ssh://root@node-1 -r ssh://root@node-2',
  ];
  static override args = TARGET_ARGS;
  static override flags = {
    ...TARGET_FLAGS,
    ...FROM_FLAG,
    ...NO_HEADERS_FLAG,
    ...outputFlags(WHY_FORMATS),
  };

  async run(): Promise<void> {
    try {
      const {args, flags} = await this.parse(Why);
      await runWhy(this.services, args.target ?? [], flags);
    } catch (error) {
      if (exitCodeOf(error) === EXIT.failed) this.report.setExitCode(EXIT.notDiagnosed);
      throw error;
    }
  }
}
