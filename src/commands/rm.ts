import * as Flags from '@oclif/core/flags';
import {atLeastOneOrHelp, containerArgs, noWordsBesideAll} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {CHOICE_FLAGS, choiceOf, chooseContainers, type Choice} from '../cli/choose-containers.js';
import type {Connection, ContainerId} from '../cri/index.js';
import {removeLogs, type GoneContainer} from '../operations/container-logs.js';
import {listAllContainers} from '../cri/list-all.js';
import {removeContainer} from '../operations/remove.js';
import type {Target} from '../operations/resolve.js';

const AT_ONCE = 16;

export default class Rm extends BaseCommand {
  static override summary = 'Remove containers';
  static override description =
    'Also deletes their logs, rotated ones too, if they are files on this machine that are not older than the ' +
    'container. Containers are chosen by name, by filters, or both: then a name is looked up among those that the ' +
    'filters let through.';
  static override usage = 'rm [CONTAINER...] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> rm web/nginx',
    '<%= config.bin %> rm --force --pod web',
    '<%= config.bin %> rm -f --label app=web',
    '<%= config.bin %> rm --all --keep-logs',
  ];
  static override args = containerArgs;
  static override flags = {
    ...CHOICE_FLAGS,
    force: Flags.boolean({char: 'f', description: 'Kill a running container first.'}),
    'keep-logs': Flags.boolean({char: 'k', description: 'Leave the log files alone.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all containers.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rm);
    const {signal} = this;
    const choice = choiceOf(args.container, flags, {states: 'all'});
    if (!this.compat) noWordsBesideAll(choice.refs, flags);
    if (!flags.all && choice.query === undefined) atLeastOneOrHelp(choice.refs);
    const services = await this.cri();
    const targets = await this.#targets(services, choice, flags.all);
    if (targets.length === 0) this.note('No containers to remove');
    const remove = async (id: ContainerId, shown: string): Promise<void> => {
      const {force, 'keep-logs': keepLogs} = flags;
      await removeContainer(services.runtime, id, {
        shown,
        force,
        onStopped: () => {
          this.print(shown);
        },
        onRemoved: async (gone) => {
          this.print(shown);
          if (!keepLogs) await this.#removeLogs(gone);
        },
        signal,
      });
    };
    await this.forEachTarget(targets, remove, AT_ONCE);
  }

  async #targets(
    services: Connection,
    choice: Choice,
    all: boolean,
  ): Promise<readonly Target<ContainerId>[]> {
    const {signal, compat: literal} = this;
    if (!all || choice.query !== undefined)
      return await chooseContainers(services, choice, {signal, newestAttempt: false, literal});
    const containers = await listAllContainers(services.runtime, {}, signal);
    return containers.map(({id}) => ({kind: 'found', ref: id, id}));
  }

  async #removeLogs(container: GoneContainer): Promise<void> {
    if (this.compat) {
      const {crictlRemoveLogs} = await import('../cli/compat/remove-logs.js');
      await crictlRemoveLogs(container, (text) => {
        this.complain(text);
      });
      return;
    }
    await removeLogs(
      container,
      (file) => void this.warn(`${file} is older than the container, and left alone`),
    );
  }
}
