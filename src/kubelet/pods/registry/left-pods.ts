import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {ifPresent, isPathSegment, listNames, withFileErrors} from '../../../base/fs/files.js';
import {podUid, type PodUid} from '../../../cri/index.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {adoptPodCgroups} from '../../managers/cgroups/adopt-pod-cgroups.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';
import {getCgroupRoot} from '../../resources/cgroup-root.js';
import {CONFIG_SOURCE_ANNOTATION} from '../../sources/static-pod.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import type {PodRecord, PodRecords, PodStore} from './pod-store.js';
import {recordWithoutSpec} from './reconstruct-record.js';

/** Records written at once. */
const WRITES_AT_ONCE = 8;

/** Resolves with the UIDs of the pods that have a directory in the root directory (listPodsFromDisk). Rejects with SystemError. */
export async function listPodsFromDisk({rootDir}: Pick<NodeFacts, 'rootDir'>): Promise<readonly PodUid[]> {
  const path = join(rootDir, 'pods');
  const entries =
    (await withFileErrors('reading', path, () => ifPresent(() => readdir(path, {withFileTypes: true})))) ??
    [];
  return entries
    .filter((entry) => entry.isDirectory() && isPathSegment(entry.name))
    .map(({name}) => podUid(name));
}

/**
 * Takes over the pods that another kubelet has left: those that have a directory in the root directory and no record. Writes a
 * record of each, as a daemon's, and resolves with them; their specs are unknown until a source delivers the pods. The cgroups of the
 * pods become kcri's. Rejects with SystemError and CriError.
 */
export async function takeOverPods(
  {records, broken}: PodRecords,
  {
    store,
    node,
    services,
    endpoint,
  }: Pick<PodRegistryOptions, 'node' | 'services' | 'endpoint'> & {
    readonly store: Pick<PodStore, 'put'>;
  },
  signal: AbortSignal,
): Promise<readonly PodRecord[]> {
  const known: ReadonlySet<PodUid> = new Set([...records, ...broken].map(({uid}) => uid));
  // A removed pod has no directory, unless another kubelet has created it again.
  const uids = (await listPodsFromDisk(node)).filter((uid) => !known.has(uid));
  if (uids.length === 0) return [];
  const names = await findNames(uids, {node, services}, signal);
  const place = {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
  const left = uids.map((uid): PodRecord => {
    const {name = uid, namespace = 'default', createdAt = 0, configSource} = names.get(uid) ?? {};
    const ref = {uid, namespace, name};
    const facts = {place, createdAt, configSource};
    return {...recordWithoutSpec(ref, facts), endpoint, manager: 'kubelet'};
  });
  const cgroupRoot = getCgroupRoot(node);
  if (cgroupRoot !== undefined) await adoptPodCgroups(cgroupRoot, uids, node.cgroup);
  await forEachLimit(left, WRITES_AT_ONCE, async (record) => {
    await store.put(record);
  });
  return left;
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

/** Finds the names of pods in the runtime or, for those without a sandbox, in the names of their log directories. */
async function findNames(
  uids: readonly PodUid[],
  {node, services}: Pick<PodRegistryOptions, 'node' | 'services'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<PodUid, LeftPodName>> {
  const names = new Map<PodUid, LeftPodName>();
  const wanted: ReadonlySet<string> = new Set(uids);
  for (const directory of await listNames(node.podLogsDir)) {
    const [namespace = '', name = '', uid = ''] = directory.split('_');
    if (wanted.has(uid)) names.set(podUid(uid), {namespace, name});
  }
  const {items: sandboxes} = await services.runtime.listPodSandbox({}, {signal});
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
