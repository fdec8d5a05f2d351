import {join} from 'node:path';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {isPathSegment, listDirectoryNames, listNames, pathExists} from '../../../base/fs/files.js';
import {podUid, type ContainerStatus, type PodSandbox, type PodUid} from '../../../cri/index.js';
import {socketPath} from '../../../cri/endpoint.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {podDir, type NodeFacts} from '../../contract/node-facts.js';
import {adoptPodCgroups} from '../../managers/cgroups/adopt-pod-cgroups.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';
import {readRuntimePodStatus} from '../../managers/kuberuntime/read-runtime-pod-status.js';
import {getCgroupRoot} from '../../resources/cgroup-root.js';
import {CONFIG_SOURCE_ANNOTATION} from '../../sources/static-pod.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import type {PodRecord, PodRecords, PodStore} from './pod-store.js';
import {recordWithoutSpec} from './reconstruct-record.js';

/** Pods read at once. */
const READS_AT_ONCE = 8;

/** Resolves with the UIDs of the pods that have a directory in the root directory (listPodsFromDisk). Rejects with SystemError. */
export async function listPodsFromDisk({rootDir}: Pick<NodeFacts, 'rootDir'>): Promise<readonly PodUid[]> {
  const names = await listDirectoryNames(join(rootDir, 'pods'));
  return names.filter(isPathSegment).map((name) => podUid(name));
}

/** Node and runtime on which another kubelet has left pods. */
type LeftNode = Pick<PodRegistryOptions, 'node' | 'services' | 'endpoint'>;

/**
 * Takes over the pods that another kubelet has left; see findLeftPods. Writes a record of each, and resolves with them. The
 * cgroups of the pods become kcri's. Rejects with SystemError and CriError.
 */
export async function takeOverPods(
  known: PodRecords,
  options: LeftNode & Pick<PodRegistryOptions, 'clock'> & {readonly store: Pick<PodStore, 'putAll'>},
  signal: AbortSignal,
): Promise<readonly PodRecord[]> {
  const {store, node, clock} = options;
  const takenOverAt = new Date(clock.now()).toISOString();
  const found = await findLeftPods(known, options, signal);
  if (found.length === 0) return [];
  const left = found.map((record) => ({...record, takenOverAt}));
  const uids = left.map(({uid}) => uid);
  const cgroupRoot = getCgroupRoot(node);
  if (cgroupRoot !== undefined) await adoptPodCgroups(cgroupRoot, uids, node.cgroup);
  await store.putAll(left);
  return left;
}

/**
 * Finds the daemon's pods whose runtime has moved to another socket: that of their records is gone, and the runtime at
 * `endpoint` has a sandbox of theirs. Resolves with their records at `endpoint`. Changes nothing. Rejects with CriError.
 */
export async function findMovedPods(
  records: readonly PodRecord[],
  {services, endpoint}: Pick<LeftNode, 'services' | 'endpoint'>,
  signal: AbortSignal,
): Promise<readonly PodRecord[]> {
  const gone = new Set<string>();
  for (const socket of new Set(records.map((record) => record.endpoint)))
    if (socket.startsWith('unix:///') && !(await pathExists(socketPath(socket)))) gone.add(socket);
  if (gone.size === 0) return [];
  const {items: sandboxes} = await services.runtime.listPodSandbox({}, {signal});
  const present = new Set(sandboxes.map(({labels}) => labels[POD_UID_LABEL]));
  return records
    .filter((record) => gone.has(record.endpoint) && present.has(record.uid))
    .map((record) => ({...record, endpoint}));
}

/**
 * Finds the pods that another kubelet has left: those without a record that have a directory in the root directory, or whose
 * containers still mount files of one. Resolves with a record of each, as a daemon's; their specs are unknown until a source
 * delivers the pods. Changes nothing. Rejects with SystemError and CriError.
 */
export async function findLeftPods(
  {records, removed, broken}: PodRecords,
  {node, services, endpoint}: LeftNode,
  signal: AbortSignal,
): Promise<readonly PodRecord[]> {
  const known: ReadonlySet<PodUid> = new Set([...records, ...broken].map(({uid}) => uid));
  // A removed pod has no directory, unless another kubelet has created it again.
  const onDisk = (await listPodsFromDisk(node)).filter((uid) => !known.has(uid));
  const {items: sandboxes} = await services.runtime.listPodSandbox({}, {signal});
  const {runtime} = services;
  // Dead containers of a removed pod still mount its files.
  const others = [...known, ...removed.map(({uid}) => uid), ...onDisk];
  const uids = [...onDisk, ...(await findMountedPods(sandboxes, others, {node, runtime}, signal))];
  if (uids.length === 0) return [];
  const names = await findNames(uids, sandboxes, node);
  const place = {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
  return uids.map((uid): PodRecord => {
    const {name = uid, namespace = 'default', createdAt = 0, configSource} = names.get(uid) ?? {};
    const ref = {uid, namespace, name};
    const facts = {place, createdAt, configSource};
    return {...recordWithoutSpec(ref, facts), endpoint, manager: 'kubelet'};
  });
}

/** Names of a pod that has been left, as far as they are known. */
interface LeftPodName {
  readonly namespace: string;
  readonly name: string;
  /** Creation of the oldest sandbox, in ms since the epoch; undefined without one. */
  readonly createdAt?: number;
  /** Source of the pod, as its sandbox is annotated. */
  readonly configSource?: string | undefined;
}

const NANOS_PER_MS = 1_000_000n;

/** Returns the names of pods in the runtime or, for those without a sandbox, in the names of their log directories. */
async function findNames(
  uids: readonly PodUid[],
  sandboxes: readonly PodSandbox[],
  {podLogsDir}: NodeFacts,
): Promise<ReadonlyMap<PodUid, LeftPodName>> {
  const names = new Map<PodUid, LeftPodName>();
  const wanted: ReadonlySet<string> = new Set(uids);
  for (const directory of await listNames(podLogsDir)) {
    const [namespace = '', name = '', uid = ''] = directory.split('_');
    if (wanted.has(uid)) names.set(podUid(uid), {namespace, name});
  }
  for (const {metadata, labels, annotations, createdAt} of sandboxes) {
    const uid = podUid(labels[POD_UID_LABEL] ?? '');
    if (!wanted.has(uid) || metadata === undefined) continue;
    const at = Number(createdAt / NANOS_PER_MS);
    const {namespace, name} = metadata;
    const configSource = annotations[CONFIG_SOURCE_ANNOTATION];
    names.set(uid, {namespace, name, configSource, createdAt: Math.min(at, names.get(uid)?.createdAt ?? at)});
  }
  return names;
}

/** Finds the pods, except the known ones, of which a container mounts a file in the directory of its pod. */
async function findMountedPods(
  sandboxes: readonly PodSandbox[],
  known: readonly PodUid[],
  {node, runtime}: {readonly node: NodeFacts; readonly runtime: KubeRuntimeService},
  signal: AbortSignal,
): Promise<readonly PodUid[]> {
  const except: ReadonlySet<string> = new Set(known);
  const labelled = sandboxes.flatMap(({labels}) => labels[POD_UID_LABEL] ?? []);
  const uids = [...new Set(labelled)].filter((uid) => isPathSegment(uid) && !except.has(uid)).map(podUid);
  const found = new Set<PodUid>();
  await forEachLimit(uids, READS_AT_ONCE, async (uid) => {
    const {containers} = await readRuntimePodStatus(runtime, {uid, name: '', namespace: ''}, signal);
    if (mountsPodFiles(containers, podDir(node, uid))) found.add(uid);
  });
  return uids.filter((uid) => found.has(uid));
}

/** Files that a kubelet makes in the directory of a pod and mounts: the hosts file, and logs of terminations. */
const MOUNTED_FILES = /^\/(?:etc-hosts|containers\/[^/]+\/[^/]+)$/;

/**
 * Reports whether a container mounts a file that a kubelet makes in the directory of a pod. The mounts of a running container
 * outlast the directory.
 */
export function mountsPodFiles(
  containers: readonly {readonly cri: Pick<ContainerStatus, 'mounts'>}[],
  directory: string,
): boolean {
  return containers.some(({cri}) =>
    cri.mounts.some(
      ({hostPath}) => hostPath.startsWith(directory) && MOUNTED_FILES.test(hostPath.slice(directory.length)),
    ),
  );
}
