import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {removeContainerLogs} from '../features/logs/remove-container-logs.js';
import {
  containerArgs,
  rejectArgumentsWithAll,
  requireArgumentsOrHelp,
} from '../cli/flags/positional-arguments.js';
import {
  CONTAINER_SELECTION_FLAGS,
  parseContainerSelection,
  selectContainers,
  type ContainerSelection,
} from '../features/containers/select-containers.js';
import type {Connection, ContainerId} from '../cri/index.js';
import {listAllContainers} from '../cri/list-all.js';
import {removeContainer} from '../operations/containers/remove-container.js';
import type {Target} from '../operations/resolve/target.js';

/** Number of containers removed concurrently. */
const PARALLELISM = 16;

export default class Rm extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Remove containers';
  static override description =
    'Also deletes their log files, including rotated ones, on this machine or the remote node, unless they are older ' +
    'than the container. Select containers by name, by filters, or both; filters then restrict where ' +
    'the names are looked up.';
  static override usage = 'rm [CONTAINER...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> rm web/nginx',
    '<%= config.bin %> rm --force --label=app=web',
    '<%= config.bin %> rm --all --keep-logs',
  ];
  static override args = containerArgs;
  static override flags = {
    ...CONTAINER_SELECTION_FLAGS,
    force: Flags.boolean({char: 'f', description: 'Stop running containers first.'}),
    'keep-logs': Flags.boolean({char: 'k', description: 'Keep the log files.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all containers.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rm);
    const {force, all, 'keep-logs': keepLogs} = flags;
    const {services, signal} = this;
    const selection = await parseContainerSelection(args.container, flags, {states: 'all'});
    this.dialect.checkUsage(() => {
      rejectArgumentsWithAll(selection.refs, flags);
    });
    if (!all && selection.query === undefined) requireArgumentsOrHelp(selection.refs, 'container');
    const removeLogs = await this.dialect.strategy('rm', REMOVE_LOGS);
    const connection = await this.cri();
    const targets = await this.#targets(connection, selection, all);
    if (targets.length === 0) this.report.info('No containers to remove');
    const remove = async (id: ContainerId, shown: string): Promise<void> => {
      await removeContainer(connection.runtime, id, {
        shown,
        force,
        onStopped: () => {
          this.out.print(shown);
        },
        onRemoved: async (container) => {
          this.out.print(shown);
          if (!keepLogs) await removeLogs(services, container);
        },
        signal,
      });
    };
    await forEachTarget(services, targets, remove, PARALLELISM);
  }

  async #targets(
    connection: Connection,
    selection: ContainerSelection,
    all: boolean,
  ): Promise<readonly Target<ContainerId>[]> {
    if (!all || selection.query !== undefined)
      return await selectContainers(connection, selection, this.services.resolving({newestAttempt: false}));
    const containers = await listAllContainers(connection.runtime, {}, this.signal);
    return containers.map(({id}) => ({kind: 'found', ref: id, id}));
  }
}

const REMOVE_LOGS: CommandStrategies['rm'] = async (services, container) => {
  await removeContainerLogs(services, container, (file) => {
    services.report.warn(`kept "${file}": it is older than the container`);
  });
};
