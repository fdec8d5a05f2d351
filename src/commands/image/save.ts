import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {imageArgs, requireArguments} from '../../cli/flags/positional-arguments.js';
import {saveImages} from '../../features/images/save-images.js';

export default class ImageSave extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Save images into an archive';
  static override description =
    'Writes an OCI image layout as a tar archive, which kcri, docker, podman and ctr load. A file ' +
    'appears when it is complete. An image for several platforms is saved as far as containerd has it.\n\n' +
    'Needs containerd, or CRI-O with skopeo or podman.';
  static override usage = 'image save IMAGE... [-o FILE]';
  static override examples = [
    '<%= config.bin %> image save -o app.tar registry.example/app:2',
    '<%= config.bin %> image save app:2 sidecar:1 | ssh node2 kcri image load',
  ];
  static override args = imageArgs;
  static override flags = {
    output: Flags.string({
      char: 'o',
      helpValue: 'FILE',
      default: '-',
      description: 'File to write, or - for standard output.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(ImageSave);
    await saveImages(this.services, requireArguments(args.image, 'image'), flags.output);
  }
}
