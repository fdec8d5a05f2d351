import {statfs} from 'node:fs/promises';
import type {Pod} from '../api/v1.js';
import {withFileErrors} from '../base/files.js';
import type {Logger} from '../base/logger.js';
import type {ImageService, RuntimeService} from '../cri/index.js';
import {ImageCollector} from './images/gc/image-collector.js';
import {DEFAULT_IMAGE_GC, type DiskUsage, type ImageGcPolicy} from './images/gc/image-uses.js';
import {FilePullRecords} from './images/records/pull-records.js';
import type {DescribedNode} from './open-local-pods.js';
import {PodStore} from './pod/pod-store.js';

/** What a kubelet's images are looked after with. */
export interface KubeletImagesOptions {
  readonly node: DescribedNode;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly logger: Logger;
  readonly policy?: ImageGcPolicy | undefined;
  /** The pods that are to run, also those of which nothing exists yet. */
  readonly pods: () => readonly Pod[];
  readonly nodeWarning: (reason: string, message: string) => void;
  /** Called for each image that was removed. */
  readonly collected: (reason: 'age' | 'space') => void;
}

/** What removes a node's images that nothing uses. */
export function imageCollector(options: KubeletImagesOptions): ImageCollector {
  const {node, runtime, images, logger, nodeWarning, collected, policy = DEFAULT_IMAGE_GC, pods} = options;
  const {rootDir} = node.node;
  const store = new PodStore(rootDir);
  return new ImageCollector(
    {
      runtime,
      images,
      records: new FilePullRecords(rootDir, node.endpoint),
      // Also those of kcri sync.
      wanted: async () => {
        const {records} = await store.list();
        return [...pods(), ...records.map(({pod}) => pod)].flatMap(imagesOf);
      },
      diskUsage,
      clock: node.clock,
      logger,
      nodeWarning,
      collected,
    },
    policy,
  );
}

function imagesOf({spec}: Pod): readonly string[] {
  const {containers, initContainers = [], volumes = []} = spec;
  return [
    ...[...containers, ...initContainers].map(({image}) => image),
    ...volumes.map(({image}) => image?.reference),
  ].filter((image) => image !== undefined);
}

async function diskUsage(path: string): Promise<DiskUsage> {
  const {bsize, blocks, bavail} = await withFileErrors('reading', path, () => statfs(path, {bigint: true}));
  return {capacityBytes: blocks * bsize, availableBytes: bavail * bsize};
}
