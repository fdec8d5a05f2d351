import {allContainersOf} from '../../api/pod-containers.js';
import {statfs} from 'node:fs/promises';
import type {Pod} from '../../api/types/v1-pod.js';
import {withFileErrors} from '../../base/fs/files.js';
import type {Logger} from '../../base/logger.js';
import type {ImageService, RuntimeService} from '../../cri/index.js';
import {ImageGcManager, type ImageGcManagerOptions} from '../managers/images/gc/image-gc-manager.js';
import {
  DEFAULT_IMAGE_GC_POLICY,
  type DiskUsage,
  type ImageGcPolicy,
} from '../managers/images/gc/image-gc-policy.js';
import {FilePullRecordsAccessor} from '../managers/images/pull-manager/pull-records-accessor.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import type {LiveValue} from '../contract/live-value.js';
import {PodStore} from '../pods/registry/pod-store.js';

/** Options of createImageCollector. */
export interface KubeletImagesOptions {
  readonly node: NodeAndRuntime;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly logger: Logger;
  readonly policy?: LiveValue<ImageGcPolicy> | undefined;
  /** Returns the desired pods, including those that do not exist in the runtime yet. */
  readonly pods: () => readonly Pod[];
  readonly nodeWarning: (reason: string, message: string) => void;
  /** See ImageGcManagerOptions. */
  readonly tracer?: ImageGcManagerOptions['tracer'];
  /** Called for each image that was removed. */
  readonly collected: (reason: 'age' | 'space') => void;
}

/** Creates the image GC manager of a node, which removes unused images. */
export function createImageCollector(options: KubeletImagesOptions): ImageGcManager {
  const {
    node,
    runtime,
    images,
    logger,
    nodeWarning,
    collected,
    policy = {current: DEFAULT_IMAGE_GC_POLICY},
    pods,
  } = options;
  const {rootDir} = node.node;
  const store = new PodStore(rootDir);
  return new ImageGcManager(
    {
      runtime,
      images,
      records: new FilePullRecordsAccessor(rootDir, node.endpoint),
      // Includes the pods of kcri sync.
      desiredImages: async () => {
        const {records} = await store.list();
        return [...pods(), ...records.map(({pod}) => pod)].flatMap(imagesOf);
      },
      diskUsage,
      clock: node.clock,
      logger,
      nodeWarning,
      onImageRemoved: collected,
      tracer: options.tracer,
    },
    policy,
  );
}

function imagesOf(pod: Pod): readonly string[] {
  return [
    ...allContainersOf(pod).map(({image}) => image),
    ...(pod.spec.volumes ?? []).map(({image}) => image?.reference),
  ].filter((image) => image !== undefined);
}

async function diskUsage(path: string): Promise<DiskUsage> {
  const {bsize, blocks, bavail} = await withFileErrors('reading', path, () => statfs(path, {bigint: true}));
  return {capacityBytes: blocks * bsize, availableBytes: bavail * bsize};
}
