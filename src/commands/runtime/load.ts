import * as Args from '@oclif/core/args';
import {BaseCommand} from '../../cli/base-command.js';
import {load} from '../../private-runtime/load.js';

export default class RuntimeLoad extends BaseCommand {
  static override summary = 'Load images from files into the private containerd and print their names';
  static override description =
    'Takes OCI and docker archives (tar, also with gzip) and directories with an OCI image layout.';
  static override usage = 'runtime load FILE.tar|DIR...';
  static override strict = false;
  static override args = {path: Args.string({required: true, description: 'Archive or directory.'})};

  async run(): Promise<void> {
    const {argv} = await this.parse(RuntimeLoad);
    const paths = argv.map(String);
    for await (const name of load({rootDir: this.rootDir, paths}, this.signal)) this.print(name);
  }
}
