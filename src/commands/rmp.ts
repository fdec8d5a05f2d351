import * as Flags from '@oclif/core/flags';
import {atLeastOne, podArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {removeSandbox} from '../operations/remove.js';
import {resolveSandboxes} from '../operations/resolve.js';

const AT_ONCE = 16;

export default class Rmp extends BaseCommand {
  static override summary = 'Remove pods';
  static override description = 'Removes sandboxes with all their containers.';
  static override usage = 'rmp POD... [OPTIONS]';
  static override args = podArgs;
  static override flags = {
    force: Flags.boolean({char: 'f', description: 'Stop a running pod first.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all pods.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmp);
    const {signal} = this;
    const refs = flags.all ? await this.#all() : atLeastOne(args.pod);
    const {runtime} = await this.cri();
    const targets = await resolveSandboxes(runtime, refs, {signal, newestAttempt: false});
    if (targets.length === 0) this.note('No pods to remove');
    const remove = async (id: Parameters<typeof removeSandbox>[1], shown: string): Promise<void> => {
      const onStopped = (): void => {
        this.print(`Stopped sandbox ${shown}`);
      };
      await removeSandbox(runtime, id, {shown, force: flags.force, onStopped, signal});
      this.print(`Removed sandbox ${shown}`);
    };
    await this.forEachTarget(targets, remove, AT_ONCE);
  }

  async #all(): Promise<readonly string[]> {
    const {runtime} = await this.cri();
    const {items} = await runtime.listPodSandbox({}, {signal: this.signal});
    return items.map(({id}) => id);
  }
}
