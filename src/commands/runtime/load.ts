import * as Args from '@oclif/core/args';
import {BaseCommand} from '../../cli/command/base-command.js';
import {loadImages} from '../../private-runtime/image/load-images.js';

export default class RuntimeLoad extends BaseCommand {
  static override summary = 'Load images into the private containerd';
  static override description =
    'Loads every image of OCI and Docker archives (tar, optionally gzipped), such as those of "docker save" ' +
    'and "kcri image save", and of OCI image layout directories, and prints the image names.';
  static override usage = 'runtime load FILE.tar|DIR...';
  static override examples = ['<%= config.bin %> runtime load busybox.tar'];
  static override strict = false;
  static override args = {path: Args.string({required: true, description: 'Archive or directory.'})};

  async run(): Promise<void> {
    const {argv} = await this.parse(RuntimeLoad);
    const paths = argv.map(String);
    for await (const name of loadImages({rootDir: this.settings.rootDir, paths}, this.signal))
      this.out.print(name);
  }
}
