import {pause} from '../../../base/async/pause.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Clock} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import {isAlreadyExists, isNotFound, type ApiClient} from '../../../kube-api/index.js';

/** Options of {@link CsiNode}. */
export interface CsiNodeOptions {
  readonly client: ApiClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Path of the collection of CSINodes. */
export const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
/** Delays between attempts, in ms: doubled up to a maximum. */
const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 30_000;

/** Annotation of a CSINode. */
const MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins';

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

/** The CSINode of the node. A node without one is not ready (nodeinfomanager InitializeCSINodeWithAnnotation). */
export class CsiNode {
  readonly #options: CsiNodeOptions;
  #isInitialized = false;

  constructor(options: CsiNodeOptions) {
    this.#options = options;
  }

  /** Reasons why the node is not ready. */
  get errors(): readonly string[] {
    return this.#isInitialized ? [] : ['CSINode is not yet initialized'];
  }

  /** Looks for a CSINode of an earlier start, so that a node that is ready stays so. */
  async find(signal: AbortSignal): Promise<void> {
    const {client, nodeName, logger} = this.#options;
    try {
      this.#isInitialized = (await read(client, nodeName, signal)) !== undefined;
    } catch (error) {
      signal.throwIfAborted();
      logger.forFile('csi-node.ts').error(error, 'Failed to read CSINode');
    }
  }

  /**
   * Creates the CSINode, which the Node owns, unless it exists; else it names the plugins that CSI drivers replace. Tries until it succeeds; rejects with the signal's
   * reason. A CSINode that is deleted later is not created again.
   */
  async ensure(signal: AbortSignal): Promise<void> {
    const {clock, logger} = this.#options;
    const log = logger.forFile('csi-node.ts');
    for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      try {
        await getOrCreate(this.#options, signal);
        break;
      } catch (error) {
        signal.throwIfAborted();
        if (isAlreadyExists(error)) break;
        log.error(error, 'Failed to initialize CSINode');
      }
      await pause(clock, delayMs, signal);
    }
    this.#isInitialized = true;
  }
}

/** A CSINode, as far as it is looked at. */
interface StoredCsiNode {
  readonly metadata: {readonly annotations?: Readonly<Record<string, string>>};
}

/** Reads the CSINode; undefined if there is none. */
async function read(
  client: ApiClient,
  nodeName: string,
  signal: AbortSignal,
): Promise<StoredCsiNode | undefined> {
  try {
    const path = `${CSI_NODES}/${nodeName}`;
    return (await client.request({method: 'GET', path}, signal)) as StoredCsiNode;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}

async function getOrCreate(options: CsiNodeOptions, signal: AbortSignal): Promise<void> {
  const {client, nodeName} = options;
  const path = `/api/v1/nodes/${nodeName}`;
  const node = (await client.request({method: 'GET', path}, signal)) as Node;
  const found = await read(client, nodeName, signal);
  if (found === undefined) await createFor(node, options, signal);
  else await updateMigrated(found, options, signal);
}

/** Names the plugins that CSI drivers replace, if a kubelet of another version has left others (setMigrationAnnotation). */
async function updateMigrated(
  csiNode: StoredCsiNode,
  {client, nodeName}: CsiNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const {annotations = {}} = csiNode.metadata;
  const known = new Set((annotations[MIGRATED] ?? '').split(','));
  if (known.size === MIGRATED_PLUGINS.length && MIGRATED_PLUGINS.every((name) => known.has(name))) return;
  const metadata = {
    ...csiNode.metadata,
    annotations: {...annotations, [MIGRATED]: MIGRATED_PLUGINS.join(',')},
  };
  const path = `${CSI_NODES}/${nodeName}`;
  await client.request({method: 'PUT', path, body: {...csiNode, metadata}}, signal);
}

/** Creates the CSINode, which the Node owns, without drivers, and returns it. Rejects with ApiError and the signal's reason. */
export async function createCsiNode(options: CsiNodeOptions, signal: AbortSignal): Promise<unknown> {
  const path = `/api/v1/nodes/${options.nodeName}`;
  return await createFor(
    (await options.client.request({method: 'GET', path}, signal)) as Node,
    options,
    signal,
  );
}

async function createFor(
  node: Node,
  {client, nodeName}: CsiNodeOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const owner = {apiVersion: 'v1', kind: 'Node', name: nodeName, uid: node.metadata.uid};
  const body = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: {
      name: nodeName,
      annotations: {[MIGRATED]: MIGRATED_PLUGINS.join(',')},
      ownerReferences: [owner],
    },
    spec: {drivers: []},
  };
  return await client.request({method: 'POST', path: CSI_NODES, body}, signal);
}
