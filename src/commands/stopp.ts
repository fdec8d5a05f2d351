import {atLeastOneOrHelp, podArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {resolveSandboxes} from '../operations/resolve.js';
import {stopSandbox} from '../operations/stop.js';

export default class Stopp extends BaseCommand {
  static override summary = 'Stop running pods';
  static override description =
    'Ends all containers of a pod and its network; "kcri rmp" removes what is left.';
  static override usage = 'stopp POD... [OPTIONS]';
  static override examples = [
    '<%= config.bin %> stopp web',
    '<%= config.bin %> stopp kube-system/coredns-5d78c9869d-abcde 9c6adef606f1e',
  ];
  static override args = podArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Stopp);
    const refs = atLeastOneOrHelp(args.pod);
    const {runtime} = await this.cri();
    const {signal, compat: literal} = this;
    // Stopping what does not exist succeeds, so a mistyped id has to be found out before.
    const targets = await resolveSandboxes(runtime, refs, {signal, verify: true, literal});
    await this.forEachTarget(targets, async (id, shown) => {
      await stopSandbox(runtime, id, {shown, signal});
      this.print(`Stopped sandbox ${shown}`);
    });
  }
}
