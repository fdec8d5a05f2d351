import * as Flags from '@oclif/core/flags';
import {atLeastOne, containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {removeContainer} from '../operations/remove.js';
import {resolveContainers} from '../operations/resolve.js';

const AT_ONCE = 16;

export default class Rm extends BaseCommand {
  static override summary = 'Remove containers';
  static override description = 'Also deletes their logs, if they are files on this machine.';
  static override usage = 'rm CONTAINER... [OPTIONS]';
  static override args = containerArgs;
  static override flags = {
    force: Flags.boolean({char: 'f', description: 'Kill a running container first.'}),
    'keep-logs': Flags.boolean({char: 'k', description: 'Leave the log files alone.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all containers.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rm);
    const {signal} = this;
    const refs = flags.all ? await this.#all() : atLeastOne(args.container);
    const {runtime} = await this.cri();
    const targets = await resolveContainers(runtime, refs, {signal, newestAttempt: false});
    if (targets.length === 0) this.note('No containers to remove');
    const remove = async (id: Parameters<typeof removeContainer>[1], shown: string): Promise<void> => {
      const onStopped = (): void => {
        this.print(shown);
      };
      const {force, 'keep-logs': keepLogs} = flags;
      await removeContainer(runtime, id, {shown, force, keepLogs, onStopped, signal});
      this.print(shown);
    };
    await this.forEachTarget(targets, remove, AT_ONCE);
  }

  async #all(): Promise<readonly string[]> {
    const {runtime} = await this.cri();
    const {containers} = await runtime.listContainers({}, {signal: this.signal});
    return containers.map(({id}) => id);
  }
}
