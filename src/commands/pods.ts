import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {SANDBOX_FILTERS} from '../features/containers/filter-flags.js';
import {FROM_FLAG, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {EXIT_CODE_FLAG, setListExitCode, listFlags} from '../features/lists/list-flags.js';
import {isListAlias} from '../cli/flags/positional-arguments.js';
import {LIST_FORMATS} from '../features/lists/collect-containers.js';
import {collectPods} from '../features/lists/collect-pods.js';
import {printPods} from '../features/lists/print-pods.js';
import {queryNodes} from '../features/nodes/query-nodes.js';
import {outputFlags} from '../cli/output/parse-output-format.js';
import {SANDBOX_ORDERS} from '../features/lists/sandbox-table.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';

export default class Pods extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'List pods';
  static override description =
    'The wide table adds IP addresses, PIDs, host ports and the number of containers, which takes a ' +
    'status call per pod.';
  static override usage = 'pods [FLAGS]';
  static override examples = [
    '<%= config.bin %> pods',
    '<%= config.bin %> pods --state=ready --namespace=kube-system -o wide',
    '<%= config.bin %> pods --sort=namespace --no-headers',
  ];
  static override strict = false;
  static override flags = {
    ...SANDBOX_FILTERS,
    ...nonEmptyFlags({
      id: Flags.string({
        helpValue: 'ID',
        description: 'Select only the pod whose ID starts with this prefix.',
      }),
    }),
    ...listFlags(SANDBOX_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print all details of each pod.'}),
    ...FROM_FLAG,
    ...EXIT_CODE_FLAG,
    ...outputFlags(LIST_FORMATS),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Pods);
    this.dialect.checkUsage(() => {
      checkWords(argv as string[]);
    });
    const list = await this.dialect.strategy('pods', collectPods);
    const lists = await queryNodes(this.services, async (services) => await list(services, flags));
    setListExitCode(this.report, flags, await printPods(this.services, lists, flags));
  }
}

/** Throws ArgumentsError for surplus words. */
function checkWords(words: readonly string[]): void {
  const [unexpected] = isListAlias(words[0]) ? words.slice(1) : words;
  if (unexpected !== undefined) throw new ArgumentsError(`unexpected argument "${unexpected}"`);
}
