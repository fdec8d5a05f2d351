import {BaseCommand} from '../cli/command/base-command.js';
import {forEachTarget} from '../cli/command/for-each-target.js';
import {containerArgs, requireArguments} from '../cli/flags/positional-arguments.js';
import {startContainer} from '../operations/containers/start-container.js';
import {resolveContainers} from '../operations/resolve/resolve-names.js';

export default class Start extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Start created containers';
  static override description =
    'Starts containers that were created but never started. CRI cannot restart a container that has ' +
    'exited.';
  static override usage = 'start CONTAINER... [FLAGS]';
  static override examples = ['<%= config.bin %> start 3e72e3e19bed6', '<%= config.bin %> start web/nginx'];
  static override args = containerArgs;

  async run(): Promise<void> {
    const {args} = await this.parse(Start);
    const refs = requireArguments(args.container, 'container');
    const {runtime} = await this.cri();
    const {services, signal} = this;
    const targets = await resolveContainers(runtime, refs, services.resolving({}));
    await forEachTarget(services, targets, async (id, shown) => {
      await startContainer(runtime, id, {shown, signal});
      this.out.print(shown);
    });
  }
}
