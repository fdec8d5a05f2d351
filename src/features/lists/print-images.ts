import type {Image} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {imageDisplayName} from '../../operations/filters/image-matching.js';
import {countContainersByImage} from '../../operations/images/list-images.js';
import {fetchImageDetails} from '../../operations/inspect/fetch-details.js';
import {withContext} from '../../operations/with-context.js';
import type {
  ConnectionContext,
  OutputContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {Column} from '../../format/table.js';
import {createSorter, formatListTable} from './list-flags.js';
import {mergeRows} from './merge-results.js';
import {NodeNames} from '../nodes/node-names.js';
import type {NodeResult} from '../nodes/node-result.js';
import {formatMessage} from '../../cli/output/parse-output-format.js';
import {
  IMAGE_ORDERS,
  imageBlock,
  imageColumns,
  imageDetailColumns,
  imageRows,
  type ImageDetails,
  type ImageRow,
} from './image-table.js';
import type {ImageList, ImagesFlags} from './collect-images.js';

/** Prints the images of one or several nodes in their form. Returns the number of images. */
export async function printImages(
  services: OutputContext,
  results: readonly NodeResult<ImageList>[],
  flags: ImagesFlags,
): Promise<number> {
  const images = mergeRows(results, (list) => list.images, createSorter(flags, IMAGE_ORDERS), flags);
  const [first] = results;
  if (first !== undefined) await printItems(services, {...first.value, images}, {results, flags});
  return images.length;
}

async function printItems(
  services: OutputContext,
  {form, images}: ImageList,
  {results, flags}: {readonly results: readonly NodeResult<ImageList>[]; readonly flags: ImagesFlags},
): Promise<void> {
  const {out} = services;
  const nodes = NodeNames.of(results, (list) => list.images);
  if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
    out.printData(await formatMessage(form, 'ListImagesResponse', {images}, nodes.nodeOf));
  else if (flags.quiet) out.printAll(images, ({id}) => `${id}\n`);
  else if (flags.verbose) out.printAll(images, imageBlock);
  else if (form.kind === 'name') out.printAll(images, (image) => `${imageDisplayName(image)}\n`);
  else {
    const {digests, pinned, 'no-trunc': full} = flags;
    const layout = {...flags, forTerminal: out.shouldEscapeControls};
    const rows = imageRows(images);
    const isWide = form.kind === 'wide';
    const columns = [
      ...nodes.columns(({image}: ImageRow) => image),
      ...imageColumns({digests, full, pinned: pinned || isWide}),
      ...(isWide ? await detailColumns(results, nodes) : []),
    ];
    out.printText(formatListTable(columns, rows, isWide ? {...layout, narrow: true} : layout));
  }
}

/** Returns the columns of details. The same image may be on several nodes, so each row has the columns of its node. */
async function detailColumns(
  results: readonly NodeResult<ImageList>[],
  nodes: NodeNames,
): Promise<readonly Column<ImageRow>[]> {
  const all = await Promise.all(
    results.map(async ({node, services, value}) => {
      const details = await readImageDetails(services, value.images);
      return [node, imageDetailColumns(details, services.context.clock.now())] as const;
    }),
  );
  const byNode = new Map(all);
  const [first] = all;
  return (first?.[1] ?? []).map(({header}, index) => ({
    header,
    value: (row) => byNode.get(nodes.nodeOf(row.image))?.[index]?.value(row) ?? '',
  }));
}

/** Returns the build information and the number of users of images. Warns if some is missing. Rejects with CriError. */
export async function readImageDetails(
  {connections, report, signal}: ConnectionContext & ReportContext & SignalContext,
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
