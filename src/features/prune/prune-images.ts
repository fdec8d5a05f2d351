import {KcriError} from '../../base/errors.js';
import type {Image} from '../../cri/index.js';
import {humanSize} from '../../format/human-size.js';
import {truncateId} from '../../format/truncate-id.js';
import type {Column} from '../../format/table.js';
import {imageDisplayName, isDangling, repoDigest} from '../../operations/filters/image-matching.js';
import type {ImagePruner} from '../../operations/prune/image-pruner.js';
import type {OutputContext, ReportContext, SignalContext} from '../../cli/command/contexts.js';

/** Columns of images to remove. */
export const PRUNED_IMAGE_COLUMNS: readonly Column<Image>[] = [
  {header: 'IMAGE', value: (image) => shownName(image)},
  {header: 'IMAGE ID', value: ({id}) => truncateId(id)},
  {header: 'SIZE', value: ({size}) => humanSize(size, 3)},
];

function shownName(image: Image): string {
  return isDangling(image) ? `${repoDigest(image).repo}:<none>` : image.repoTags.join(', ');
}

/** Removes images one after the other; reports failures and images that are in use now. Returns the removed ones. */
export async function pruneImages(
  {out, report, signal}: OutputContext & ReportContext & SignalContext,
  pruner: ImagePruner,
  images: readonly Image[],
): Promise<readonly Image[]> {
  const removed: Image[] = [];
  for (const image of images) {
    signal.throwIfAborted();
    try {
      const result = await pruner.remove(image);
      const title = `image "${imageDisplayName(image)}"`;
      if (result.kind === 'kept') report.warn(`${title} was kept: ${result.reason}`);
      if (result.kind === 'gone') report.warn(`${title} was removed by another program in the meantime`);
      if (result.kind !== 'removed') continue;
      out.printAll(result.names.length === 0 ? [image.id] : result.names, (name) => `Deleted: ${name}\n`);
      removed.push(image);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      report.fail(error);
    }
  }
  return removed;
}
