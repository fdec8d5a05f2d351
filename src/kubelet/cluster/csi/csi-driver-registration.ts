import type {Node} from '../../../api/types/v1-node.js';
import {pause} from '../../../base/async/pause.js';
import {formatAggregate, isExpectedError, SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import {createMergePatch, isNotFound} from '../../../kube-api/index.js';
import type {CsiDriverInfo} from '../../contract/volumes/csi-cluster.js';
import {createCsiNode, CSI_NODES, type CsiNodeOptions} from '../node/csi-node.js';

/** Annotation of the Node with the names that drivers have for it, in JSON. */
const NODE_ID = 'csi.volume.kubernetes.io/nodeid';

/** Attempts of each update, and the delays between them in ms, which grow by a factor (nodeinfomanager updateBackoff). */
const ATTEMPTS = 4;
const INITIAL_DELAY_MS = 10;
const FACTOR = 5;

/** A driver in the spec of a CSINode. */
interface CsiNodeDriver {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys: readonly string[] | null;
  readonly allocatable?: {readonly count?: number};
}

interface CsiNodeObject {
  readonly metadata: object;
  readonly spec: {readonly drivers: readonly CsiNodeDriver[] | null};
}

/** Adds and removes drivers in the Node and the CSINode, one after the other (nodeInfoManager). */
export class CsiDriverRegistration {
  readonly #options: CsiNodeOptions;
  /** Last change; it never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: CsiNodeOptions) {
    this.#options = options;
  }

  /** Adds a driver to the Node, then to the CSINode (InstallCSIDriver). Rejects with SystemError and the signal's reason. */
  async install(driver: CsiDriverInfo, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      const failed = (kind: string): string =>
        `error updating ${kind} object with CSI driver node info: error updating`;
      await this.#attempt(
        `${failed('Node')} node`,
        () => this.#patchNode((node) => withDriver(node, driver), signal),
        signal,
      );
      await this.#attempt(`${failed('CSINode')} CSINode`, () => this.#addToCsiNode(driver, signal), signal);
    });
  }

  /** Writes what a driver reports now to the CSINode (UpdateCSIDriver). Rejects like install. */
  async update(driver: CsiDriverInfo, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      const failed = 'error updating CSINode object with CSI driver node info: error updating CSINode';
      await this.#attempt(failed, () => this.#addToCsiNode(driver, signal), signal);
    });
  }

  /** Removes a driver from the CSINode, then from the Node, whose labels stay (UninstallCSIDriver). Rejects like install. */
  async uninstall(name: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      const failed = 'error uninstalling CSI driver from CSINode object error updating CSINode';
      await this.#attempt(failed, () => this.#removeFromCsiNode(name, signal), signal);
      const node = 'error removing CSI driver node info from Node object error updating node';
      await this.#attempt(
        node,
        () => this.#patchNode((current) => withoutDriver(current, name), signal),
        signal,
      );
    });
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined); // the caller sees the error
    await turn;
  }

  async #attempt(failed: string, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    for (let delayMs = INITIAL_DELAY_MS; errors.length < ATTEMPTS; delayMs *= FACTOR)
      try {
        await work();
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!isExpectedError(error)) throw error;
        errors.push(error);
        if (errors.length < ATTEMPTS) await pause(this.#options.clock, delayMs, signal);
      }
    const message = `${failed}: timed out waiting for the condition; caused by: ${formatAggregate(errors)}`;
    throw new SystemError(message, {cause: errors.at(-1)});
  }

  async #patchNode(change: (node: Node) => Node, signal: AbortSignal): Promise<void> {
    const {client, nodeName} = this.#options;
    const path = `/api/v1/nodes/${nodeName}`;
    const node = (await client.request({method: 'GET', path}, signal)) as Node;
    const body = createMergePatch({...node}, {...change(node)});
    // As in the kubelet, the subresource: a node may change its own metadata there.
    if (Object.keys(body).length > 0)
      await client.request({method: 'PATCH', path: `${path}/status`, body}, signal);
  }

  async #addToCsiNode(driver: CsiDriverInfo, signal: AbortSignal): Promise<void> {
    const known = (await this.#readCsiNode(signal)) ?? (await createCsiNode(this.#options, signal));
    const csiNode = known as CsiNodeObject;
    const drivers = csiNode.spec.drivers ?? [];
    const entry = driverEntry(driver);
    const others = drivers.filter(({name}) => name !== driver.name);
    if (
      isSame(
        drivers.find(({name}) => name === driver.name),
        entry,
      )
    )
      return;
    await this.#putCsiNode(csiNode, [...others, entry], signal);
  }

  async #removeFromCsiNode(driver: string, signal: AbortSignal): Promise<void> {
    const csiNode = (await this.#readCsiNode(signal)) as CsiNodeObject | undefined;
    const drivers = csiNode?.spec.drivers ?? [];
    const others = drivers.filter(({name}) => name !== driver);
    if (csiNode === undefined || others.length === drivers.length) return;
    await this.#putCsiNode(csiNode, others, signal);
  }

  async #readCsiNode(signal: AbortSignal): Promise<unknown> {
    const {client, nodeName} = this.#options;
    try {
      return await client.request({method: 'GET', path: `${CSI_NODES}/${nodeName}`}, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  async #putCsiNode(
    csiNode: CsiNodeObject,
    drivers: readonly CsiNodeDriver[],
    signal: AbortSignal,
  ): Promise<void> {
    const {client, nodeName} = this.#options;
    const body = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      ...csiNode,
      spec: {...csiNode.spec, drivers},
    };
    await client.request({method: 'PUT', path: `${CSI_NODES}/${nodeName}`, body}, signal);
  }
}

function driverEntry({name, nodeId, topology, maxVolumes}: CsiDriverInfo): CsiNodeDriver {
  const topologyKeys = Object.keys(topology).toSorted();
  return {name, nodeID: nodeId, topologyKeys, ...(maxVolumes > 0 && {allocatable: {count: maxVolumes}})};
}

function isSame(known: CsiNodeDriver | undefined, entry: CsiNodeDriver): boolean {
  if (known?.nodeID !== entry.nodeID || known.allocatable?.count !== entry.allocatable?.count) return false;
  const keys = (known.topologyKeys ?? []).toSorted();
  return JSON.stringify(keys) === JSON.stringify(entry.topologyKeys);
}

/** Returns the Node with a driver. Throws SystemError if a label of its topology has another value. */
function withDriver(node: Node, {name, nodeId, topology}: CsiDriverInfo): Node {
  const {metadata} = node;
  const {labels = {}} = metadata;
  for (const [key, value] of Object.entries(topology)) {
    const known = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (known !== undefined && known !== value)
      throw new SystemError(
        `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${known}"`,
        {hint: `remove the label "${key}" of the Node if the driver is right`},
      );
  }
  const ids = {...nodeIdsOf(node), [name]: nodeId};
  return {...node, metadata: {...metadata, ...withNodeIds(node, ids), labels: {...labels, ...topology}}};
}

function withoutDriver(node: Node, name: string): Node {
  const ids = Object.entries(nodeIdsOf(node)).filter(([driver]) => driver !== name);
  return {...node, metadata: {...node.metadata, ...withNodeIds(node, Object.fromEntries(ids))}};
}

/** Returns the names that drivers have for the Node. Throws SystemError for a damaged annotation. */
function nodeIdsOf({metadata}: Node): Readonly<Record<string, unknown>> {
  const text = metadata.annotations?.[NODE_ID] ?? '';
  if (text === '') return {};
  let ids: unknown;
  try {
    ids = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (isObject(ids)) return ids;
  throw new SystemError(`failed to parse node's "${NODE_ID}" annotation value (${JSON.stringify(text)})`, {
    hint: 'remove the annotation of the Node',
  });
}

function withNodeIds(
  {metadata}: Node,
  ids: Readonly<Record<string, unknown>>,
): Pick<Node['metadata'], 'annotations'> {
  const others = Object.entries(metadata.annotations ?? {}).filter(([name]) => name !== NODE_ID);
  const sorted = Object.entries(ids).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const own = sorted.length === 0 ? [] : [[NODE_ID, JSON.stringify(Object.fromEntries(sorted))] as const];
  return {annotations: Object.fromEntries([...others, ...own])};
}
