import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {podArgs, requireArgumentsOrHelp} from '../cli/flags/positional-arguments.js';
import {stopSandbox} from '../operations/pods/stop-sandbox.js';
import {resolveSandboxes} from '../operations/resolve/resolve-names.js';

export default class Stopp extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Stop running pods';
  static override description =
    'Stops all containers of each pod and tears down its network. To remove stopped pods, use "kcri ' +
    'rmp".';
  static override usage = 'stopp POD... [FLAGS]';
  static override examples = [
    '<%= config.bin %> stopp web',
    '<%= config.bin %> stopp kube-system/coredns-5d78c9869d-abcde 9c6adef606f1e',
  ];
  static override args = podArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Stopp);
    const refs = requireArgumentsOrHelp(args.pod, 'pod');
    const {runtime} = await this.cri();
    const {services, signal} = this;
    // StopPodSandbox succeeds for a sandbox that does not exist, so mistyped IDs must be detected first.
    const targets = await resolveSandboxes(runtime, refs, services.resolving({verify: true}));
    await forEachTarget(services, targets, async (id, shown) => {
      await stopSandbox(runtime, id, {shown, signal});
      this.out.print(`Stopped sandbox ${shown}`);
    });
  }
}
