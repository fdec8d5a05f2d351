import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/base-command.js';
import {up} from '../../private-runtime/up.js';

export default class RuntimeUp extends BaseCommand {
  static override summary = 'Start a private containerd and print its endpoint';
  static override description = `For machines that have no container runtime running. It has its own directories, socket and pod network below
the root directory and never touches another one. Running it again is a no-op, or repairs what was killed.`;
  static override examples = ['export CONTAINER_RUNTIME_ENDPOINT=$(kcri runtime up)'];
  static override flags = {
    containerd: Flags.string({
      helpValue: 'PATH',
      description:
        'containerd to run, or the folder that it, ctr and its shim are in. [default: the one in PATH]',
    }),
    runc: Flags.string({
      helpValue: 'PATH',
      description: 'runc or crun to use. [default: runc in PATH, else crun]',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeUp);
    const record = await up(
      {
        rootDir: this.rootDir,
        choice: {containerd: flags.containerd, runc: flags.runc},
        progress: (step) => {
          this.note(`kcri: ${step}`);
        },
        clock: this.context.clock,
      },
      this.signal,
    );
    this.print(record.endpoint);
  }
}
