import {SystemError} from '../../base/errors.js';
import type {ContainerdConnection} from '../../containerd/connect-containerd.js';
import {isNotFound, isUnimplemented, type ImageService} from '../../cri/index.js';
import type {Json} from '../../format/json.js';
import {inspectImage} from '../inspect/inspect-objects.js';
import {at, factsOf, text, texts} from '../inspect/verbose-info.js';
import {chainIds} from './chain-ids.js';
import {findSnapshotter} from './stored/snapshotter.js';

/** A step in the build of an image. */
export interface HistoryStep {
  /** Build time as in the image config, RFC 3339; empty if unknown. */
  readonly created: string;
  /** Command of the build. */
  readonly createdBy: string;
  readonly comment: string;
  readonly author: string;
  /** Digest of the uncompressed layer; empty for a step that changed only the configuration. */
  readonly diffId: string;
  /** Disk usage of the unpacked layer in bytes, 0 without a layer; undefined if the runtime does not report it. */
  readonly size: number | undefined;
}

/** Build steps of an image, the newest first. */
export interface ImageHistory {
  readonly imageId: string;
  readonly steps: readonly HistoryStep[];
}

/** Services that the history is read from. */
export interface HistoryServices {
  readonly images: ImageService;
  /** Connects to containerd's own services, for the sizes of layers. */
  readonly containerd: () => Promise<ContainerdConnection>;
  readonly signal: AbortSignal;
}

/** Returns the build steps of an image. Rejects with NotFoundError, and with SystemError if the runtime does not report them. */
export async function readImageHistory(services: HistoryServices, reference: string): Promise<ImageHistory> {
  const {image, info} = await inspectImage(services.images, reference, {
    verbose: true,
    signal: services.signal,
  });
  const spec = at(factsOf(info), 'imageSpec');
  const history = at(spec, 'history');
  if (!Array.isArray(history))
    throw new SystemError(`the runtime does not report the history of the image "${reference}"`, {
      hint: 'containerd and CRI-O do, unless the image was built without one; see "kcri inspecti"',
    });
  const diffIds = texts(at(spec, 'rootfs', 'diff_ids'));
  const sizes = await layerSizes(services, diffIds);
  return {imageId: image?.id ?? '', steps: toSteps(history as readonly Json[], diffIds, sizes).toReversed()};
}

/** Returns the steps, the oldest first. Layers belong to the steps that are not empty, in their order. */
function toSteps(
  history: readonly Json[],
  diffIds: readonly string[],
  sizes: readonly (number | undefined)[],
): readonly HistoryStep[] {
  let layer = 0;
  return history.map((entry) => {
    const isEmpty = at(entry, 'empty_layer') === true;
    const index = isEmpty ? -1 : layer++;
    return {
      created: text(at(entry, 'created')),
      createdBy: text(at(entry, 'created_by')),
      comment: text(at(entry, 'comment')),
      author: text(at(entry, 'author')),
      diffId: diffIds[index] ?? '',
      size: isEmpty ? 0 : sizes[index],
    };
  });
}

/** Returns the disk usage of each layer; undefined on other runtimes, and for an image that is not unpacked. */
async function layerSizes(
  {images, containerd, signal}: HistoryServices,
  diffIds: readonly string[],
): Promise<readonly (number | undefined)[]> {
  try {
    const connection = await containerd();
    const snapshotter = await findSnapshotter(images, connection, signal);
    const sizes: number[] = [];
    for (const key of chainIds(diffIds))
      sizes.push(Number((await connection.snapshots.usage({snapshotter, key}, {signal})).size));
    return sizes;
  } catch (error) {
    if (isUnimplemented(error) || isNotFound(error)) return [];
    throw error;
  }
}
