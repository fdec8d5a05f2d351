import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {bringUpRuntime} from '../../private-runtime/lifecycle/bring-up-runtime.js';

export default class RuntimeUp extends BaseCommand {
  static override summary = 'Start a private containerd and print its endpoint';
  static override description =
    'For machines without a container runtime. Directories, socket and pod network are private to the ' +
    'root directory; other runtimes are not affected. If it is already running, missing processes are ' +
    'restarted.';
  static override usage = 'runtime up [FLAGS]';
  static override examples = ['export CONTAINER_RUNTIME_ENDPOINT=$(<%= config.bin %> runtime up)'];
  static override flags = {
    containerd: Flags.string({
      helpValue: 'PATH',
      description:
        'containerd binary, or the directory of containerd, ctr and the shim. [default: containerd in PATH]',
    }),
    runc: Flags.string({
      helpValue: 'PATH',
      description: 'runc or crun binary. [default: runc in PATH, then crun]',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeUp);
    const record = await bringUpRuntime(
      {
        rootDir: this.settings.rootDir,
        choice: {containerd: flags.containerd, runc: flags.runc},
        onProgress: (step) => {
          this.report.info(`kcri: ${step}`);
        },
        clock: this.context.clock,
      },
      this.signal,
    );
    this.out.print(record.endpoint);
  }
}
