import * as Args from '@oclif/core/args';
import {UsageError} from '../../base/errors.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {imageRuntime} from '../../features/images/image-runtime.js';
import {tagImage} from '../../operations/images/stored/tag-image.js';

export default class ImageTag extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Give an image another name';
  static override description =
    'A name that belongs to another image is moved, with a message. Needs containerd, or CRI-O with ' +
    'podman or buildah.';
  static override usage = 'image tag IMAGE NAME[:TAG]';
  static override examples = ['<%= config.bin %> image tag busybox:1.36 registry.example/tools:1'];
  static override args = {
    image: Args.string({ignoreStdin: true, description: 'Name or ID of an image.'}),
    name: Args.string({ignoreStdin: true, description: 'The new name.'}),
  };

  async run(): Promise<void> {
    const {args} = await this.parse(ImageTag);
    const {image = '', name = ''} = args;
    if (image === '' || name === '') throw new UsageError('an image and its new name are required');
    const tagged = await tagImage(await imageRuntime(this.services), image, name);
    if (tagged.hasMoved) this.report.info(`${tagged.name} belonged to another image before`);
    this.out.print(tagged.name);
  }
}
