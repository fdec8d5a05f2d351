import * as Args from '@oclif/core/args';
import {UsageError} from '../../base/errors.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {imageRuntime} from '../../features/images/image-runtime.js';
import {truncateId} from '../../format/truncate-id.js';
import {untagImage} from '../../operations/images/stored/tag-image.js';

export default class ImageUntag extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Remove one name of an image';
  static override description =
    'Removes only the name, never the last one of an image. Needs containerd or CRI-O.';
  static override usage = 'image untag NAME[:TAG]';
  static override examples = ['<%= config.bin %> image untag registry.example/tools:1'];
  static override args = {name: Args.string({ignoreStdin: true, description: 'Name to remove.'})};

  async run(): Promise<void> {
    const {args} = await this.parse(ImageUntag);
    const {name = ''} = args;
    if (name === '') throw new UsageError('the name of an image is required');
    const {name: removed, imageId, remaining} = await untagImage(await imageRuntime(this.services), name);
    this.out.printText(`Untagged: ${removed}\n`);
    this.report.info(`the image ${truncateId(imageId)} remains as ${remaining.join(', ')}`);
  }
}
