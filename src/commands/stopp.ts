import {atLeastOne, podArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {resolveSandboxes} from '../operations/resolve.js';
import {stopSandbox} from '../operations/stop.js';

export default class Stopp extends BaseCommand {
  static override summary = 'Stop running pods';
  static override usage = 'stopp POD... [OPTIONS]';
  static override args = podArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Stopp);
    const refs = atLeastOne(args.pod);
    const {runtime} = await this.cri();
    const {signal} = this;
    // Stopping what does not exist succeeds, so a mistyped id has to be found out before.
    const targets = await resolveSandboxes(runtime, refs, {signal, verify: true});
    await this.forEachTarget(targets, async (id, shown) => {
      await stopSandbox(runtime, id, {shown, signal});
      this.print(`Stopped sandbox ${shown}`);
    });
  }
}
