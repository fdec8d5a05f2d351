import type {Node} from '../../api/types/v1-node.js';
import type {KubeletReport} from '../../kubelet/index.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {readCommandNode} from '../manifests/read-command-node.js';
import {programVersion} from '../../cli/process/program-version.js';

/** Defaults of the kubelet's configuration. */
const DEFAULTS = {
  maxPods: 110,
  port: 10_250,
  providerId: '',
  externalCloudProvider: false,
  registerWithTaints: [],
  maxImages: 50,
  controllerAttaches: true,
};

/**
 * Returns the Node object of this machine: the cluster's as the running kubelet reports it, or, without a cluster, the
 * one that the running kubelet, or else one with the default configuration, would register. Rejects with CriError.
 */
export async function readNodeObject(
  services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext,
  report: KubeletReport | undefined,
): Promise<Node> {
  if (report?.node !== undefined) return report.node;
  const {readLocalNode} = await import('../../kubelet/cluster/index.js');
  const {withReportedFacts} = await import('../../kubelet/index.js');
  const {context, connections, signal} = services;
  const connection = await connections.default();
  const {node: machine} = await readCommandNode(services, {}, connection);
  const local = report?.localNode;
  const node = local === undefined ? machine : withReportedFacts(machine, local);
  const settings = local?.settings ?? DEFAULTS;
  const {clock} = context;
  const pressures = report?.pressures ?? [];
  return await readLocalNode(
    {services: connection, node, settings, pressures, kcriVersion: programVersion(), clock},
    signal,
  );
}
