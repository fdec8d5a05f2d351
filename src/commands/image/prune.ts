import * as Flags from '@oclif/core/flags';
import {counted} from '../../base/counted.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import {listFlag, nonEmptyFlags} from '../../cli/flags/flag-types.js';
import {formatListTable} from '../../features/lists/list-flags.js';
import {PodReader} from '../../features/pods/pod-reader.js';
import {createImageReservations} from '../../features/prune/image-reservations.js';
import {parseImageFilters} from '../../features/prune/parse-image-filters.js';
import {CONFIRMATION_FLAGS} from '../../features/prune/prune-flags.js';
import {PRUNED_IMAGE_COLUMNS, pruneImages} from '../../features/prune/prune-images.js';
import {spaceText} from '../../features/prune/space-text.js';
import {checkConfirmable, confirm} from '../../cli/terminal/confirm.js';
import {ImagePruner} from '../../operations/prune/image-pruner.js';

export default class ImagePrune extends BaseCommand {
  static override summary = 'Remove unused images';
  static override description =
    'Removes images without a tag, or with --all all images that no container in any state and no pod of ' +
    'kcri uses. Pinned images and the sandbox image are always kept. The images are listed first, and each ' +
    'is checked again just before it is removed.\n\nThe runtime reports only sizes of whole images; layers that ' +
    'images share make the freed space a range. Filters need the build time and labels of images, and keep ' +
    'images for which the runtime does not report them.';
  static override usage = 'image prune [FLAGS]';
  static override examples = [
    '<%= config.bin %> image prune --dry-run',
    '<%= config.bin %> image prune --all --filter=until=168h --yes',
  ];
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'Remove all unused images, not only those without a tag.'}),
    ...CONFIRMATION_FLAGS,
    ...nonEmptyFlags({
      filter: listFlag({
        helpValue: 'CONDITION',
        description:
          'Remove only images that match: until=TIME (built before it), label=KEY, label=KEY=VALUE or dangling=false. Can be repeated.',
      }),
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(ImagePrune);
    const {context, out, report, services, signal} = this;
    checkConfirmable(context, flags);
    const filters = parseImageFilters(flags.filter ?? [], context.clock.now());
    const connection = await this.cri();
    const reservedBy = createImageReservations(await new PodReader(services).select([], {}));
    const pruner = new ImagePruner(connection, {
      ...filters,
      all: flags.all || filters.all,
      reservedBy,
      signal,
    });
    const {images, space, unknown} = await pruner.plan();
    if (unknown > 0)
      report.info(
        `kcri: note: left alone: ${counted(unknown, 'image')} whose build time or labels are unknown`,
      );
    if (images.length === 0) {
      report.info('No images to remove');
      return;
    }
    const layout = {'no-headers': false, narrow: true, forTerminal: out.shouldEscapeControls};
    out.printText(formatListTable(PRUNED_IMAGE_COLUMNS, images, layout));
    const what = `${counted(images.length, 'image')}; frees ${spaceText(space)}`;
    out.print(`\n${flags['dry-run'] ? 'Would remove' : 'To remove:'} ${what}`);
    if (flags['dry-run']) return;
    if (!flags.yes && !(await confirm(context, 'Remove them?'))) {
      report.info('Nothing was removed');
      return;
    }
    const removed = await pruneImages(services, pruner, images);
    out.print(`Removed ${counted(removed.length, 'image')}; freed ${spaceText(pruner.spaceOf(removed))}`);
  }
}
