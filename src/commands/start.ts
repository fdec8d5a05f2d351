import {atLeastOne, containerArgs} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {resolveContainers} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Start extends BaseCommand {
  static override summary = 'Start created containers';
  static override usage = 'start CONTAINER... [OPTIONS]';
  static override args = containerArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Start);
    const refs = atLeastOne(args.container);
    const {runtime} = await this.cri();
    const {signal} = this;
    await this.forEachTarget(await resolveContainers(runtime, refs, {signal}), async (containerId, ref) => {
      await withContext(`starting the container "${ref}"`, runtime.startContainer({containerId}, {signal}));
      this.print(ref);
    });
  }
}
