import type {ObjectMeta} from '../../../api/types/v1-meta.js';
import type {Node, NodeAddress, NodeStatus} from '../../../api/types/v1-node.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import type {ApiClient} from '../../../kube-api/index.js';
import type {ClusterHost} from '../../contract/cluster/cluster-link.js';
import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import type {ClusterServices} from '../../contract/kube-services.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {computeNodeAddresses, updateProvidedNodeIp} from './cloud-provider.js';
import {CsiNode} from './csi-node.js';
import type {NodeEvents} from './node-events.js';
import {registerNode} from './node-registrar.js';
import {computeInitialNode, computeNodeStatus, type NodeStatusInput} from './node-status.js';
import {NodeStatusUpdater} from './node-status-updater.js';
import {PodCidr} from './pod-cidr.js';
import {readSystemInfo} from './read-system-info.js';
import type {VolumesInUse} from './volumes-in-use.js';

/** Options of {@link NodeReporter}. */
export interface NodeReporterOptions {
  readonly client: ApiClient;
  /** Client whose requests do not wait for others. */
  readonly heartbeats: ApiClient;
  readonly services: ClusterServices;
  readonly node: NodeFacts;
  readonly settings: NodeSettings;
  /** True to create the Node object if it is missing (registerNode). */
  readonly registerNode: boolean;
  readonly kcriVersion: string;
  /** See NodeStatusUpdater. */
  readonly updateFrequencyMs: number;
  readonly reportFrequencyMs: number;
  /** Returns the last Node of the watch. */
  readonly watched: () => Node | undefined;
  readonly volumesInUse: VolumesInUse;
  readonly events: NodeEvents;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Labels that are put back while the kubelet runs (Kubelet.updateNode). */
const REQUIRED_LABELS = ['kubernetes.io/os', 'kubernetes.io/arch'] as const;

/** Registers the node, then reports its status. */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  readonly #csiNode: CsiNode;
  readonly #podCidr: PodCidr;
  readonly #updater: NodeStatusUpdater;
  /** Facts about the kubelet; undefined before `run`. */
  #host: ClusterHost | undefined;
  /** True if the last status that was computed has no errors of the host. */
  #wasReady = true;

  constructor(options: NodeReporterOptions) {
    const {client, services, node, clock, logger} = options;
    this.#options = options;
    this.#csiNode = new CsiNode({client, nodeName: node.nodeName, clock, logger});
    this.#podCidr = new PodCidr(services.runtime, logger);
    this.#updater = this.#createUpdater();
  }

  /** Registers and reports until the signal aborts, then rejects with its reason. */
  async run(host: ClusterHost, signal: AbortSignal): Promise<void> {
    this.#host = host;
    await this.#csiNode.find(signal);
    if (this.#options.registerNode) {
      const {client, clock, logger, events} = this.#options;
      const createNode = async (): Promise<Node> => computeInitialNode(await this.#read(host, {}, signal));
      const keepsExtended = host.takeExtendedResources?.().isNew === false;
      const options = {client, createNode, keepsExtended, clock, logger};
      const {initial, isNew} = await registerNode(options, signal);
      events.registered(initial, isNew);
    }
    const ensureCsiNode = async (): Promise<void> => {
      await this.#csiNode.ensure(signal);
      this.#updater.statusChanged();
    };
    await Promise.all([this.#updater.run(signal), ensureCsiNode()]);
  }

  /** Updates the status at once. */
  statusChanged(): void {
    this.#updater.statusChanged();
  }

  /** Updates the status at once if the node has become ready since the last one (Kubelet.fastStatusUpdateOnce). */
  runtimeChecked(): void {
    if (!this.#wasReady && this.#host?.nodeErrors.length === 0) this.#updater.statusChanged();
  }

  /** Passes new pod CIDRs to the runtime at once: its network plugin may wait for them. */
  nodeChanged(node: Node): void {
    if (this.#podCidr.isOutdated(node)) this.#updater.statusChanged();
  }

  #createUpdater(): NodeStatusUpdater {
    const {heartbeats, node, settings, watched, events, clock, random, logger} = this.#options;
    const {volumesInUse, updateFrequencyMs, reportFrequencyMs} = this.#options;
    return new NodeStatusUpdater({
      client: heartbeats,
      nodeName: node.nodeName,
      node: watched,
      updateMetadata: (metadata) => updateProvidedNodeIp(putBackLabels(metadata, node), node, settings),
      computeStatus: async (current, signal) => await this.#computeStatus(current, signal),
      isReported: () => volumesInUse.isComplete,
      onReported: (before, after, stored) => {
        volumesInUse.stored(stored);
        events.reported(before, after);
      },
      ...{updateFrequencyMs, reportFrequencyMs, clock, random, logger},
    });
  }

  async #computeStatus(current: Node, signal: AbortSignal): Promise<NodeStatus> {
    const {watched, events} = this.#options;
    const known = watched();
    if (known !== undefined) events.observed(known);
    await this.#podCidr.update(current, signal);
    const {status = {}} = current;
    return this.#host === undefined
      ? status
      : computeNodeStatus(await this.#read(this.#host, status, signal));
  }

  async #read(host: ClusterHost, previous: NodeStatus, signal: AbortSignal): Promise<NodeStatusInput> {
    const {services, node, settings, kcriVersion, clock, logger} = this.#options;
    const log = logger.forFile('node-reporter.ts');
    const orUndefined = async <T>(work: Promise<T>): Promise<T | undefined> =>
      await work.catch((error: unknown) => {
        // The conditions of the node must be sent above all when its runtime is down.
        if (!signal.aborted) log.error(error, 'Failed to read node information from the runtime');
        return undefined;
      });
    const info = await orUndefined(readSystemInfo(services.runtime, node, kcriVersion, signal));
    const images = await orUndefined(services.images.listImages({}, {signal}).then((list) => list.images));
    const {nodeErrors} = host;
    this.#wasReady = nodeErrors.length === 0;
    return {
      ...{node, settings, info, images, previous},
      addresses: await this.#findAddresses(previous.addresses),
      errors: [...nodeErrors, ...this.#csiNode.errors],
      pressures: host.pressures,
      features: host.runtimeFeatures,
      extended: host.takeExtendedResources?.(),
      volumesInUse: this.#listVolumesInUse(host),
      now: clock.now(),
    };
  }

  /** Returns the volumes for the status; undefined to keep the last ones. */
  #listVolumesInUse(host: ClusterHost): readonly string[] | undefined {
    if (!this.#options.settings.controllerAttaches) return undefined;
    const volumes = host.volumesInUse?.();
    if (volumes !== undefined) this.#options.volumesInUse.computed(volumes);
    return volumes;
  }

  /** Resolves with the addresses of the node; undefined to keep the last ones. */
  async #findAddresses(previous: readonly NodeAddress[] = []): Promise<readonly NodeAddress[] | undefined> {
    const {node, settings, logger} = this.#options;
    try {
      await node.hostIps.refresh?.();
      return computeNodeAddresses(node, settings, previous);
    } catch (error) {
      const log = logger.forFile('node-reporter.ts');
      log.error(error, 'Failed to set some node status fields', {node: node.nodeName});
      return undefined;
    }
  }
}

/** Returns the metadata of the Node with the labels that the kubelet puts back. */
function putBackLabels(metadata: ObjectMeta, {labels}: Pick<NodeFacts, 'labels'>): ObjectMeta {
  const required = REQUIRED_LABELS.flatMap((name) => {
    const value = labels[name];
    return value === undefined || metadata.labels?.[name] === value ? [] : [[name, value] as const];
  });
  if (required.length === 0) return metadata;
  return {...metadata, labels: {...metadata.labels, ...Object.fromEntries(required)}};
}
