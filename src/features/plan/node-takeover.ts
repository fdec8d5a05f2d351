import {access, constants} from 'node:fs/promises';
import {systemRandom} from '../../base/clock.js';
import {KcriError, hasErrno} from '../../base/errors.js';
import {fileError} from '../../base/fs/files.js';
import {
  podRef,
  type ConfigValues,
  type KubeletConfig,
  type NodeManagers,
  type NodePods,
  type PlannedTakeover,
  type ReadPodSourcesOptions,
  type ReadSources,
} from '../../kubelet/index.js';
import type {ClusterPods} from '../../kubelet/cluster/index.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {kubeconfigFlags} from '../kubelet/kubelet-flags.js';
import {kubeletRootDir, takeoverKind} from '../kubelet/kubelet-defaults.js';
import {checkSwap} from '../kubelet/prepare-process.js';
import {devicePlugins, joinedNode, measureNode, withPolicies} from '../kubelet/kubelet-options.js';
import {readKubeletNodeFlags} from '../kubelet/kubelet-node-flags.js';
import {listIgnoredFlags, type IgnoredFlag} from '../kubelet/ignored-flags.js';
import {openApiServer} from '../kubelet/open-cluster.js';
import {createConfigReader} from '../kubelet/read-kubelet-config-files.js';
import {createRunKubeletOptions, type KubeletFlagValues} from '../kubelet/run-kubelet-options.js';
import {hideSecrets, toReadError} from './plan-cluster.js';

/** Effects on a node when kcri takes the place of the kubelet of the root directory. */
export interface NodeTakeover extends PlannedTakeover {
  readonly nodeName: string;
  readonly rootDir: string;
  /** Kubelets that run with the root directory now. */
  readonly kubelets: readonly {readonly program: 'kubelet' | 'kcri'; readonly pid: number}[];
  /** Reason why the pods of the API server are unknown; undefined if they are known. */
  readonly apiError: KcriError | undefined;
  /** Manifests that kcri ignores, and sources that it cannot read. */
  readonly problems: ReadSources['problems'];
  /** Reason why kcri would not start; undefined if it would. */
  readonly startError: KcriError | undefined;
  /** Fields and flags without effect. */
  readonly ineffective: readonly {readonly setting: string; readonly reason: string}[];
}

/** Flags of a kubelet. */
export type TakeoverFlagValues = KubeletFlagValues & {
  readonly config?: string | undefined;
  readonly 'config-dir'?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly 'bootstrap-kubeconfig'?: string | undefined;
  readonly 'cloud-provider'?: string | undefined;
};

/** Verdicts with which nothing of a pod that a source has stops. */
const SEAMLESS: readonly string[] = ['kept', 'started', 'stopped', 'leftAlone'];

/** Reports whether kcri starts, nothing restarts or is evicted, and nothing is impossible or unknown. */
export function isSeamless({
  pods,
  problems,
  startError,
  eviction,
  softEvictions,
}: Pick<NodeTakeover, 'pods' | 'problems' | 'startError' | 'eviction' | 'softEvictions'>): boolean {
  return (
    startError === undefined &&
    eviction === undefined &&
    softEvictions.length === 0 &&
    problems.every(({level}) => level === 'warning') &&
    pods.every(({verdict}) => SEAMLESS.includes(verdict))
  );
}

/**
 * Returns what would happen if a kubelet with these flags started now. Changes nothing, also while another kubelet runs. Rejects
 * with KcriError.
 */
export async function planNodeTakeover(
  services: CommandContext,
  flags: TakeoverFlagValues,
): Promise<NodeTakeover> {
  const {context, settings, signal} = services;
  const {clock, env} = context;
  const kubeconfigs = kubeconfigFlags(flags);
  const joinsCluster = kubeconfigs.kubeconfig !== undefined;
  settings.addGlobals({'root-dir': kubeletRootDir(settings.globals, env, {asKubelet: true, joinsCluster})});
  const {rootDir} = settings;
  const readConfig = createConfigReader(takeoverKind(rootDir, joinsCluster), flags, signal);
  const [read, node] = [await readConfig(), readKubeletNodeFlags(flags)];
  const config = settings.globals['runtime-endpoint'] === undefined ? read : withoutEndpoint(read);
  const ignoredFlags = listIgnoredFlags(flags);
  const reading = {config, readConfig, ignoredFlags, certDir: rootDir, ...node, ...kubeconfigs};
  const options = createRunKubeletOptions(services, flags, reading);
  const {connection, describe} = await options.open([]);
  const facts = {inCluster: joinsCluster, ...devicePlugins({rootDir, context})};
  const found = joinedNode(await describe(), facts, config.values);
  const {nodeName} = found.node;
  using cluster = await readCluster(services, kubeconfigs.kubeconfig, {config, node: found.node});
  const {planTakeover, readNodePods, startPlannedNodeManagers, withClusterObjects} =
    await import('../../kubelet/index.js');
  const nodePods = await readNodePods(found, signal);
  const pods = cluster.read?.pods.map((pod) => ({uid: podRef(pod).uid, pod, origin: ''}));
  const api = joinsCluster ? {pods} : undefined;
  const sources = await readSources(config.values, {nodeName, clock, rootDir, nodePods, api}, signal);
  const objects = withClusterObjects(sources.objects, cluster.read?.objects);
  const planned = {...withPolicies(found, config.values), objects: await hideSecrets(services, objects)};
  const {nodeObject} = cluster.read ?? {nodeObject: undefined};
  const eviction = measureNode(config.values, {connection, node: found, clock});
  const {nodeManagers, startError} = await tryStart(async () => {
    await checkSwap(config.values, context.swapsFile);
    await checkWritable(rootDir);
    return await startPlannedNodeManagers({node: found.node, clock, isTakeover: true}, signal);
  });
  const takeover = await planTakeover(
    {...planned, sources, nodePods, nodeObject, nodeManagers, eviction, admission: options.admission},
    signal,
  );
  return {
    ...{...takeover, nodeName, rootDir, problems: sources.problems},
    startError,
    kubelets: await findKubelets(rootDir),
    apiError: cluster.error,
    ineffective: listIneffective(config, ignoredFlags),
  };
}

/** Returns a configuration with the runtime of kcri's own flag, which the name kubelet does not have. */
function withoutEndpoint(config: KubeletConfig): KubeletConfig {
  return {...config, values: {...config.values, containerRuntimeEndpoint: ''}};
}

/** Reads the pods of the static sources, which keep the UIDs of those that run, and takes those of the API server as given. */
async function readSources(
  {staticPodPath, staticPodURL, staticPodURLHeader}: ConfigValues,
  {
    nodePods,
    ...others
  }: Pick<ReadPodSourcesOptions, 'nodeName' | 'clock' | 'rootDir' | 'api'> & {
    readonly nodePods: NodePods;
  },
  signal: AbortSignal,
): Promise<ReadSources> {
  const {readPodSources} = await import('../../kubelet/index.js');
  return await readPodSources(
    {
      manifestPath: staticPodPath === '' ? undefined : staticPodPath,
      manifestUrl: staticPodURL === '' ? undefined : staticPodURL,
      manifestHeaders: staticPodURLHeader,
      keepStaticPod: (pod, known) => nodePods.staticPods.withRunningUid(pod, known),
      ...others,
    },
    signal,
  );
}

/** Managers of the node, with what its kubelet has stored, or the reason why kcri would not start. */
interface PlannedStart {
  readonly nodeManagers?: NodeManagers;
  readonly startError?: KcriError;
}

async function tryStart(start: () => Promise<NodeManagers>): Promise<PlannedStart> {
  try {
    return {nodeManagers: await start()};
  } catch (error) {
    if (error instanceof KcriError) return {startError: error};
    throw error;
  }
}

/** Rejects with SystemError for a directory on a read-only file system. The kubelet, unlike this user, may write to all others. */
async function checkWritable(directory: string): Promise<void> {
  try {
    await access(directory, constants.W_OK);
  } catch (error) {
    if (hasErrno(error, 'EROFS')) throw fileError('writing to', directory, error);
  }
}

/** Pods of the API server, or why they could not be read; neither without a cluster. */
interface ClusterRead extends Disposable {
  readonly read?: ClusterPods;
  readonly error?: KcriError;
}

async function readCluster(
  {context, signal}: CommandContext,
  kubeconfig: string | undefined,
  {
    config,
    node,
  }: {readonly config: KubeletConfig; readonly node: {readonly nodeName: string; readonly rootDir: string}},
): Promise<ClusterRead> {
  if (kubeconfig === undefined) return {[Symbol.dispose]: () => undefined};
  const {clock, env} = context;
  const {readClusterPods} = await import('../../kubelet/cluster/index.js');
  try {
    const server = await openApiServer({kubeconfig, config: config.values, context: {clock, env, signal}});
    try {
      const read = await readClusterPods({server, node, clock, random: systemRandom}, signal);
      return {
        read,
        [Symbol.dispose]: () => {
          read[Symbol.dispose]();
          server[Symbol.dispose]();
        },
      };
    } catch (error) {
      server[Symbol.dispose]();
      signal.throwIfAborted();
      throw toReadError(error, {url: server.url, kubeconfig});
    }
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return {error, [Symbol.dispose]: () => undefined};
  }
}

async function findKubelets(rootDir: string): Promise<NodeTakeover['kubelets']> {
  const {findKubelet, findLiveKubelet} = await import('../../kubelet/index.js');
  const [live, own] = await Promise.all([findLiveKubelet(rootDir), findKubelet(rootDir)]);
  return [
    ...(live === undefined ? [] : [{program: 'kubelet' as const, pid: live}]),
    ...(own === undefined ? [] : [{program: 'kcri' as const, pid: own.pid}]),
  ];
}

function listIneffective(
  {unsupported, ignored}: KubeletConfig,
  flags: readonly IgnoredFlag[],
): NodeTakeover['ineffective'] {
  return [
    ...[...unsupported, ...ignored].map(({field, reason}) => ({setting: field, reason})),
    ...flags.map(({flag, reason}) => ({setting: flag, reason})),
  ];
}
