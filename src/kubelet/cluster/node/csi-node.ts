import type {Node} from '../../../api/types/v1-node.js';
import type {Clock} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import {isAlreadyExists, isNotFound, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link ensureCsiNode}. */
export interface CsiNodeOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PATH = '/apis/storage.k8s.io/v1/csinodes';
/** Delays between attempts, in ms: doubled up to a maximum. */
const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 30_000;

/** Volume plugins whose volumes only CSI drivers can mount, as Kubernetes 1.36 lists them. */
const MIGRATED_PLUGINS = [
  'aws-ebs',
  'azure-disk',
  'azure-file',
  'cinder',
  'gce-pd',
  'portworx-volume',
  'vsphere-volume',
].map((name) => `kubernetes.io/${name}`);

/**
 * Creates the CSINode of the node, which owns it, unless it exists. Tries until it succeeds; rejects with the signal's
 * reason (nodeinfomanager InitializeCSINodeWithAnnotation). A CSINode that is deleted later is not created again.
 */
export async function ensureCsiNode(options: CsiNodeOptions, signal: AbortSignal): Promise<void> {
  const {clock} = options;
  const logger = options.logger.forFile('csi-node.ts');
  for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      await getOrCreate(options, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (isAlreadyExists(error)) return;
      logger.error(error, 'Failed to initialize CSINode');
    }
    await clock.sleep(delayMs, signal);
  }
}

async function getOrCreate({client, nodeName}: CsiNodeOptions, signal: AbortSignal): Promise<void> {
  const node = (await client.request({method: 'GET', path: `/api/v1/nodes/${nodeName}`}, signal)) as Node;
  try {
    await client.request({method: 'GET', path: `${PATH}/${nodeName}`}, signal);
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const owner = {apiVersion: 'v1', kind: 'Node', name: nodeName, uid: node.metadata.uid};
  const body = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: {
      name: nodeName,
      annotations: {'storage.alpha.kubernetes.io/migrated-plugins': MIGRATED_PLUGINS.join(',')},
      ownerReferences: [owner],
    },
    spec: {drivers: []},
  };
  await client.request({method: 'POST', path: PATH, body}, signal);
}
