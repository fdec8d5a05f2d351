import * as Flags from '@oclif/core/flags';
import {atLeastOneOrHelp, noWordsBesideAll, podArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import type {PodSandboxId, RuntimeService} from '../cri/index.js';
import {listAllSandboxes} from '../cri/list-all.js';
import {removeSandbox} from '../operations/remove.js';
import {resolveSandboxes, type Target} from '../operations/resolve.js';

const AT_ONCE = 16;

export default class Rmp extends BaseCommand {
  static override summary = 'Remove pods';
  static override description = 'Removes sandboxes with all their containers. Logs stay where they are.';
  static override usage = 'rmp POD... [OPTIONS]';
  static override examples = [
    '<%= config.bin %> rmp web',
    '<%= config.bin %> rmp --force kube-system/coredns-5d78c9869d-abcde',
    '<%= config.bin %> rmp --all --force',
  ];
  static override args = podArgs;
  static override flags = {
    force: Flags.boolean({char: 'f', description: 'Stop a running pod first.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all pods.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmp);
    const {force, all} = flags;
    if (!this.compat) noWordsBesideAll(args.pod, flags);
    const refs = all ? [] : atLeastOneOrHelp(args.pod);
    const {runtime} = await this.cri();
    const targets = await this.#targets(runtime, refs, all);
    if (targets.length === 0) this.note('No pods to remove');
    const remove = async (id: PodSandboxId, shown: string): Promise<void> => {
      const onStopped = (): void => {
        this.print(`Stopped sandbox ${shown}`);
      };
      await removeSandbox(runtime, id, {shown, force, onStopped, signal: this.signal});
      this.print(`Removed sandbox ${shown}`);
    };
    await this.forEachTarget(targets, remove, AT_ONCE);
  }

  async #targets(
    runtime: RuntimeService,
    refs: readonly string[],
    all: boolean,
  ): Promise<readonly Target<PodSandboxId>[]> {
    const {signal, compat: literal} = this;
    if (!all) return await resolveSandboxes(runtime, refs, {signal, newestAttempt: false, literal});
    const sandboxes = await listAllSandboxes(runtime, {}, signal);
    return sandboxes.map(({id}) => ({kind: 'found', ref: id, id}));
  }
}
