import type {Node} from '../../api/types/v1-node.js';
import {ConfigError, SystemError} from '../../base/errors.js';
import type {SavedNode} from '../../cli/archive/saved-node.js';
import type {ConnectionContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {CpuShare, KubeletReport, NodeCpus} from '../../kubelet/index.js';
import {fetchKubeletReport} from './kubelet-reports.js';
import {readNodeObject} from './read-node-object.js';

/** Name of the part of an archive with the facts about a node. */
export const NODE_PART = 'node';

/** Node object, kubelet report and CPUs of a node, as plain data that JSON can hold. */
export interface NodeFacts {
  readonly node: Node;
  /** Report of the running kubelet of kcri; absent without one. */
  readonly report?: KubeletReport | undefined;
  /** CPUs of the machine, or the error of reading them. */
  readonly cpus: NodeCpus | {readonly error: string};
  /** CPU assignments by container, or the error of reading them; absent if no container has exclusive CPUs. */
  readonly shares?: readonly CpuShare[] | {readonly error: string} | undefined;
}

/**
 * Reads the facts about this machine, with the kubelet's report of all its pods if `withPods`. Rejects with CriError and
 * SystemError.
 */
export async function collectNodeFacts(services: RuntimeContext, withPods: boolean): Promise<NodeFacts> {
  const report = await fetchKubeletReport(services, withPods ? undefined : []);
  const node = await readNodeObject(services, report);
  const {readCpuShares, readNodeCpus} = await import('../../kubelet/index.js');
  const {rootDir} = services.settings;
  return {
    ...{node, report},
    cpus: await orError(readNodeCpus(rootDir)),
    shares: await orError(readCpuShares(rootDir)),
  };
}

/** Returns what is read, or why it cannot be read. */
async function orError<T>(reading: Promise<T>): Promise<T | {readonly error: string}> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return {error: error.message};
  }
}

/**
 * Shows the facts about the node of the command, which may be a saved one. Rejects with ConfigError if those of a saved node
 * have another form, and like collectNodeFacts.
 */
export async function withNodeFacts<T>(
  services: RuntimeContext,
  show: (facts: NodeFacts) => T | Promise<T>,
): Promise<T> {
  if (!(await services.settings.isSaved())) return await show(await collectNodeFacts(services, false));
  const saved = await savedNode(services);
  return await checkingForm(saved, async () => {
    const facts = saved.part(NODE_PART, 'the Node object') as unknown as NodeFacts;
    // Every Node has these, also one without a status.
    if (typeof facts.node.metadata.name !== 'string' || typeof facts.node.spec !== 'object')
      throw new TypeError('not a Node');
    return await show(facts);
  });
}

/** Shows the report of the kubelet of a saved node. Rejects with ConfigError if it has none. */
export async function withSavedReport<T>(
  services: ConnectionContext,
  show: (report: KubeletReport) => T | Promise<T>,
): Promise<T> {
  const saved = await savedNode(services);
  const {report} = saved.part(NODE_PART, 'the report of the kubelet');
  if (report === undefined)
    throw new ConfigError(`${saved.path}: no kcri kubelet ran on the node, or it did not respond`);
  return await checkingForm(saved, async () => await show(report as KubeletReport));
}

async function savedNode({connections}: ConnectionContext): Promise<SavedNode> {
  await connections.default();
  const {saved} = connections;
  if (saved === undefined) throw new TypeError('not a saved node');
  return saved;
}

/** Calls a function that reads facts of a file, which is not trusted: only a foreign one has facts of another form. */
async function checkingForm<T>(saved: SavedNode, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError))
      throw error;
    throw saved.unusable('its facts about the node have another form');
  }
}
