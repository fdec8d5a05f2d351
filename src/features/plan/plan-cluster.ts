import {systemRandom} from '../../base/clock.js';
import {ConfigError, KcriError, SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {ApiObjects, NodeAndRuntime, PodPlan, PodRef} from '../../kubelet/index.js';
import type {RuntimeContext, SecretsContext} from '../../cli/command/contexts.js';
import {unlessEmpty} from '../../cli/flags/flag-types.js';
import type {PodFlagValues} from '../manifests/pod-flags.js';
import {openApiServer} from '../kubelet/open-cluster.js';
import {fetchKubeletReport} from '../node/kubelet-reports.js';
import {openNodeCredentials, readCommandNode} from '../manifests/read-command-node.js';

/** Options of planCluster. */
interface ClusterPlanRequest {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Names of pods, `NAMESPACE/NAME` or UIDs; all pods of the node by default. */
  readonly words: readonly string[];
  readonly flags: PodFlagValues;
}

/**
 * Returns what a kubelet would do now about the pods that the API server has for this node. Pods that cannot be planned
 * are reported. Rejects with ConfigError, ApiError, the errors of connections and CriError.
 */
export async function planCluster(
  services: RuntimeContext & SecretsContext,
  {kubeconfig, words, flags}: ClusterPlanRequest,
): Promise<readonly PodPlan[]> {
  const {planClusterPods, readKubeletConfig} = await import('../../kubelet/index.js');
  const {readClusterPods} = await import('../../kubelet/cluster/index.js');
  const {context, report, signal} = services;
  const {clock, env} = context;
  const config = readKubeletConfig([], new Map(), {joinsCluster: true}).values;
  using server = await openApiServer({kubeconfig, config, context: {clock, env, signal}});
  const node = await readClusterNode(services, flags);
  const {nodeName} = node.node;
  using cluster = await readClusterPods({server, node: node.node, clock, random: systemRandom}, signal).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      throw toReadError(error, {url: server.url, kubeconfig});
    },
  );
  const selected = new Set<string>();
  const isSelected = (ref: PodRef): boolean => {
    const found = words.filter((word) => isNamed(ref, word));
    for (const word of found) selected.add(word);
    return words.length === 0 || found.length > 0;
  };
  const plans = await planClusterPods(
    {
      ...node,
      objects: await hideSecrets(services, cluster.objects),
      imageCredentials: await openNodeCredentials(services, flags),
      nodeObject: cluster.nodeObject,
      pressures: cluster.pressures,
      isSelected,
      onFailure: (_, error) => {
        report.fail(error);
      },
    },
    cluster.pods,
    signal,
  );
  for (const word of words.filter((each) => !selected.has(each)))
    report.fail(
      new ConfigError(`pod "${word}" not found on the node "${nodeName}"`, {
        hint: `${server.url} has ${cluster.pods.length} pods for this node; set --hostname-override if it has another name`,
      }),
    );
  return plans;
}

/** Converts an error of the API server or of a connection to it; returns programming errors unchanged. */
export function toReadError(
  error: unknown,
  {url, kubeconfig}: {readonly url: string; readonly kubeconfig: string},
): unknown {
  if (error instanceof KcriError || !(error instanceof Error) || !('code' in error)) return error;
  const isRefused = error.code === 401 || error.code === 403;
  return new SystemError(`reading the pods of this node from ${url}: ${systemErrorMessage(error)}`, {
    cause: error,
    hint: isRefused
      ? `use the kubeconfig of this node's kubelet instead of "${kubeconfig}", or set --hostname-override to the name of its node`
      : `check "server" in "${kubeconfig}", and that the API server runs`,
  });
}

function isNamed({namespace, name, uid}: PodRef, word: string): boolean {
  return [name, `${namespace}/${name}`, uid].includes(word);
}

/** Reads the facts of the node; unless a flag names it, with those that the running kubelet has for it. */
async function readClusterNode(services: RuntimeContext, flags: PodFlagValues): Promise<NodeAndRuntime> {
  const [machine, kubelet] = await Promise.all([
    readCommandNode(services, flags),
    fetchKubeletReport(services, []),
  ]);
  if (kubelet?.localNode === undefined || unlessEmpty(flags['hostname-override']) !== undefined)
    return machine;
  const {withReportedFacts} = await import('../../kubelet/index.js');
  return {...machine, node: withReportedFacts(machine.node, kubelet.localNode)};
}

/** Keeps the values of the Secrets that are read out of messages. */
export async function hideSecrets({secrets}: SecretsContext, objects: ApiObjects): Promise<ApiObjects> {
  const {secretValuesOf} = await import('../../kubelet/index.js');
  return {
    ...objects,
    secret: (...key) => {
      const secret = objects.secret(...key);
      if (secret !== undefined) secrets.add(secretValuesOf(secret));
      return secret;
    },
  };
}
