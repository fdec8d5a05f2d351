import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {CONTAINER_FILTERS, CONTAINER_SCOPE_FLAGS} from '../features/containers/filter-flags.js';
import {EXIT_CODE_FLAG, setListExitCode, listFlags} from '../features/lists/list-flags.js';
import {LIST_FORMATS, collectContainers} from '../features/lists/collect-containers.js';
import {printContainers} from '../features/lists/print-containers.js';
import {queryNodes} from '../features/nodes/query-nodes.js';
import {outputFlags} from '../cli/output/parse-output-format.js';
import {CONTAINER_ORDERS} from '../features/lists/container-table.js';

export default class Ps extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'List containers';
  static override description =
    'Lists running containers; use --all to list containers in all states.\n\nThe wide table adds IP ' +
    'addresses, PIDs, exit codes and host ports, which takes a status call per container and pod.';
  static override usage = 'ps [FLAGS]';
  static override examples = [
    '<%= config.bin %> ps -a',
    '<%= config.bin %> ps --pod=web --label=app=web -o wide',
    '<%= config.bin %> ps -a --state=exited --sort=name',
  ];
  static override flags = {
    ...CONTAINER_FILTERS,
    ...nonEmptyFlags({
      id: Flags.string({
        helpValue: 'ID',
        description: 'Select only the container whose ID starts with this prefix.',
      }),
    }),
    ...CONTAINER_SCOPE_FLAGS,
    ...listFlags(CONTAINER_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print all details of each container.'}),
    'resolve-image-path': Flags.boolean({
      char: 'r',
      description: 'Show the tag of images instead of their ID.',
    }),
    ...FROM_FLAG,
    ...EXIT_CODE_FLAG,
    ...outputFlags(LIST_FORMATS),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Ps);
    const list = await this.dialect.strategy('ps', collectContainers);
    const lists = await queryNodes(this.services, async (services) => await list(services, flags));
    setListExitCode(this.report, flags, await printContainers(this.services, lists, flags));
  }
}
