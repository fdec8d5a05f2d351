import {atLeastOne, containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {resolveContainers} from '../operations/resolve.js';
import {startContainer} from '../operations/stop.js';

export default class Start extends BaseCommand {
  static override summary = 'Start created containers';
  static override description =
    'Starts containers that were created and have not run yet; the CRI has no way to start one again.';
  static override usage = 'start CONTAINER... [OPTIONS]';
  static override examples = ['<%= config.bin %> start 3e72e3e19bed6', '<%= config.bin %> start web/nginx'];
  static override args = containerArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Start);
    const refs = atLeastOne(args.container);
    const {runtime} = await this.cri();
    const {signal, compat: literal} = this;
    const targets = await resolveContainers(runtime, refs, {signal, literal});
    await this.forEachTarget(targets, async (id, shown) => {
      await startContainer(runtime, id, {shown, signal});
      this.print(shown);
    });
  }
}
