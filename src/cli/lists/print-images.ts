import type {Image} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {imageDisplayName} from '../../operations/images/image-matching.js';
import {countContainersByImage} from '../../operations/images/list-images.js';
import {fetchImageDetails} from '../../operations/inspect/fetch-details.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandServices} from '../command/command-services.js';
import {formatListTable} from '../flags/list-flags.js';
import {formatMessage} from '../output/parse-output-format.js';
import {
  imageBlock,
  imageColumns,
  imageDetailColumns,
  imageRows,
  type ImageDetails,
} from '../output/views/image-table.js';
import type {ImageList, ImagesFlags} from './collect-images.js';

/** Prints a list of images in its form. */
export async function printImages(
  services: CommandServices,
  {form, images}: ImageList,
  flags: ImagesFlags,
): Promise<void> {
  const {out} = services;
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListImagesResponse', {images}));
  else if (flags.quiet) out.printAll(images, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(images, imageBlock);
  else if (form.kind === 'name') out.printAll(images, (image) => `${imageDisplayName(image)}\n`);
  else {
    const {digests, pinned, 'no-trunc': full} = flags;
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const rows = imageRows(images);
    if (form.kind === 'table')
      out.printText(formatListTable(imageColumns({digests, full, pinned}), rows, layout));
    else {
      const columns = imageColumns({digests, full, pinned: true});
      const more = imageDetailColumns(await readImageDetails(services, images), services.context.clock.now());
      out.printText(formatListTable([...columns, ...more], rows, {...layout, narrow: true}));
    }
  }
}

/** Returns the build information and the number of users of images. Warns if some is missing. Rejects with CriError. */
export async function readImageDetails(
  {connections, report, signal}: CommandServices,
  images: readonly Image[],
): Promise<ImageDetails> {
  const connection = await connections.default();
  const [{byId, failure}, containers] = await Promise.all([
    fetchImageDetails(connection.images, images, signal),
    withContext('listing containers', listAllContainers(connection.runtime, {}, signal)),
  ]);
  if (failure !== undefined) report.warn(`some details are missing: ${failure.message}`);
  return {facts: byId, containers: countContainersByImage(images, containers)};
}
