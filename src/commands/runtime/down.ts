import {BaseCommand} from '../../cli/base-command.js';
import {down} from '../../private-runtime/down.js';

export default class RuntimeDown extends BaseCommand {
  static override summary = 'End the private containerd with all its pods and remove all it made';
  static override description = `Every pod on it is ended at once. No process, mount, network, cgroup or file is left, nor an image that was
pulled or loaded. Other runtimes are not touched. When none is there it does nothing.`;

  async run(): Promise<void> {
    await this.parse(RuntimeDown);
    const progress = (step: string): void => {
      this.note(`kcri: ${step}`);
    };
    await down({rootDir: this.rootDir, progress, clock: this.context.clock}, this.signal);
  }
}
