import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../../base/errors.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {loadImages} from '../../features/images/load-images.js';

export default class ImageLoad extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Load images from archives';
  static override description =
    'Loads OCI and docker archives (tar, optionally gzipped), unpacks the images and prints their names. ' +
    'If it fails, nothing of the archive remains.\n\nNeeds containerd, or CRI-O with podman.';
  static override aliases = ['image import'];
  static override usage = 'image load [FILE...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> image load app.tar.gz',
    'docker save app:2 | <%= config.bin %> image load',
    '<%= config.bin %> image load --name registry.example/app:2 layout.tar',
  ];
  static override args = {
    file: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'Archive, or - for standard input, which is the default.',
    }),
  };
  static override flags = {
    input: Flags.string({char: 'i', helpValue: 'FILE', description: 'Archive; the same as the argument.'}),
    name: Flags.string({
      helpValue: 'NAME',
      description: 'Name for an image that has none in the archive.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(ImageLoad);
    const given = [...(flags.input === undefined ? [] : [flags.input]), ...(args.file ?? [])];
    const files = given.length === 0 ? ['-'] : given;
    if (files.filter((file) => file === '-').length > 1)
      throw new UsageError('standard input can be read only once');
    for (const file of files)
      this.out.printAll(await loadImages(this.services, file, flags.name), (name) => `${name}\n`);
  }
}
