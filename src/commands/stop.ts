import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {integerFlag} from '../cli/flags/flag-types.js';
import {containerArgs} from '../cli/flags/positional-arguments.js';
import {
  CONTAINER_SELECTION_FLAGS,
  parseContainerSelection,
  selectContainers,
  type ContainerSelection,
} from '../features/containers/select-containers.js';
import {ConflictError} from '../cli/parsing/usage-errors.js';
import type {Connection, ContainerId} from '../cri/index.js';
import {listContainers} from '../operations/containers/list-containers.js';
import {stopContainer} from '../operations/containers/stop-container.js';
import type {Target} from '../operations/resolve/target.js';
import {withContext} from '../operations/with-context.js';

export default class Stop extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Stop running containers';
  static override description =
    'As in crictl, containers are killed immediately unless --timeout is given. Select containers by ' +
    'name, by filters, or both; filters then restrict where the names are looked up.';
  static override usage = 'stop [CONTAINER...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> stop -t 30 web/nginx',
    '<%= config.bin %> stop -t 10 --label=app=web',
    '<%= config.bin %> stop --all',
  ];
  static override args = containerArgs;
  static override flags = {
    ...CONTAINER_SELECTION_FLAGS,
    timeout: integerFlag({
      char: 't',
      default: 0,
      helpValue: 'SECONDS',
      description: 'Time for a container to exit before it is killed, in seconds. [default: 0]',
    }),
    all: Flags.boolean({char: 'a', description: 'Stop all running containers.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Stop);
    const {signal} = this;
    const selection = await parseContainerSelection(args.container, flags, {states: 'running'});
    if (flags.all && selection.refs.length > 0)
      throw new ConflictError('cannot specify CONTAINER-ID(s) when using --all');
    if (!flags.all && selection.refs.length === 0 && selection.query === undefined)
      throw new ConflictError('you must specify at least one CONTAINER-ID or use --all');
    const connection = await this.cri();
    const targets = await this.#targets(connection, selection, flags.all);
    if (targets.length === 0) this.out.print('No running containers found.');
    await forEachTarget(this.services, targets, async (id, shown) => {
      await stopContainer(connection.runtime, id, {shown, gracePeriodSeconds: flags.timeout, signal});
      this.out.print(shown);
    });
  }

  async #targets(
    connection: Connection,
    selection: ContainerSelection,
    all: boolean,
  ): Promise<readonly Target<ContainerId>[]> {
    if (all && selection.query === undefined) {
      const {listContext} = await this.dialect.strategy('stop', {listContext: 'listing containers'});
      const running = listContainers(connection, {state: 'CONTAINER_RUNNING'}, this.signal);
      return (await withContext(listContext, running)).map(({id}) => ({kind: 'found', ref: id, id}));
    }
    // StopContainer succeeds for a container that does not exist, so mistyped IDs must be detected first.
    return await selectContainers(connection, selection, this.services.resolving({verify: true}));
  }
}
