import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {podArgs, rejectArgumentsWithAll, requireArgumentsOrHelp} from '../cli/flags/positional-arguments.js';
import type {PodSandboxId, RuntimeService} from '../cri/index.js';
import {listAllSandboxes} from '../cri/list-all.js';
import {removeSandbox} from '../operations/pods/remove-sandbox.js';
import {resolveSandboxes} from '../operations/resolve/resolve-names.js';
import type {Target} from '../operations/resolve/target.js';

/** Number of pods removed concurrently. */
const PARALLELISM = 16;

export default class Rmp extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Remove pods';
  static override description = 'Removes sandboxes with all their containers. Log files are kept.';
  static override usage = 'rmp POD... [FLAGS]';
  static override examples = [
    '<%= config.bin %> rmp web',
    '<%= config.bin %> rmp --force kube-system/coredns-5d78c9869d-abcde',
    '<%= config.bin %> rmp --all --force',
  ];
  static override args = podArgs;
  static override flags = {
    force: Flags.boolean({char: 'f', description: 'Stop running pods first.'}),
    all: Flags.boolean({char: 'a', description: 'Remove all pods.'}),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Rmp);
    const {force, all} = flags;
    this.dialect.checkUsage(() => {
      rejectArgumentsWithAll(args.pod, flags);
    });
    const refs = all ? [] : requireArgumentsOrHelp(args.pod, 'pod');
    const {runtime} = await this.cri();
    const targets = await this.#targets(runtime, refs, all);
    if (targets.length === 0) this.report.info('No pods to remove');
    const remove = async (id: PodSandboxId, shown: string): Promise<void> => {
      const onStopped = (): void => {
        this.out.print(`Stopped sandbox ${shown}`);
      };
      await removeSandbox(runtime, id, {shown, force, onStopped, signal: this.signal});
      this.out.print(`Removed sandbox ${shown}`);
    };
    await forEachTarget(this.services, targets, remove, PARALLELISM);
  }

  async #targets(
    runtime: RuntimeService,
    refs: readonly string[],
    all: boolean,
  ): Promise<readonly Target<PodSandboxId>[]> {
    if (!all) return await resolveSandboxes(runtime, refs, this.services.resolving({newestAttempt: false}));
    const sandboxes = await listAllSandboxes(runtime, {}, this.signal);
    return sandboxes.map(({id}) => ({kind: 'found', ref: id, id}));
  }
}
