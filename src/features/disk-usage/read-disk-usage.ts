import {counted} from '../../base/counted.js';
import type {Connection, Container, PodSandbox} from '../../cri/index.js';
import {countContainersByImage} from '../../operations/images/list-images.js';
import {imageDisplayName} from '../../operations/filters/image-matching.js';
import {readContainerSizes} from '../../operations/prune/container-sizes.js';
import {ImagePruner} from '../../operations/prune/image-pruner.js';
import {readLogSizes} from '../../operations/prune/log-sizes.js';
import {planPrune} from '../../operations/prune/plan-prune.js';
import {withContext} from '../../operations/with-context.js';
import type {RuntimeContext, SignalContext} from '../../cli/command/contexts.js';
import {filesystemRows} from '../images/filesystem-table.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';
import {createImageReservations} from '../prune/image-reservations.js';
import {readPrunablePods} from '../prune/prune-system.js';
import {formatPodTitle} from '../pods/pod-title.js';
import type {DiskUsageReport, FilesystemItem, UsageItem} from './disk-usage-report.js';

/** A container or sandbox and its pod. */
interface Owned<T> {
  readonly object: T;
  readonly pod: ListedPod;
}

/** Reads the disk usage of the runtime and of the pods of kcri. Rejects with CriError and SystemError. */
export async function readDiskUsage(services: RuntimeContext): Promise<DiskUsageReport> {
  const {connections, signal, settings} = services;
  const connection = await connections.default();
  const listed = await new PodReader(services).select([], {});
  const containers = objectsOf(listed, 'containers');
  const sandboxes = objectsOf(listed, 'sandboxes');
  const plan = planPrune(readPrunablePods(listed));
  const removed = new Set<string>([
    ...plan.containers.map(({container}) => container.id),
    ...plan.sandboxes.flatMap(({sandbox, containers: own}) => [sandbox.id, ...own.map(({id}) => id)]),
  ]);
  const all = containers.map(({object}) => object);
  const [images, sizes, logs, filesystems, storage] = await Promise.all([
    readImages(services, connection, {listed, containers: all, removed}),
    readContainerSizes(connection, all, signal),
    readLogSizes(connection.runtime, all, signal),
    readFilesystems(connection, signal),
    readStorage(settings.rootDir, listed),
  ]);
  return {
    items: [
      ...images.items,
      ...containers.map((each) => containerItem(each, sizes, removed)),
      ...sandboxes.map((each) => sandboxItem(each, removed)),
      ...containers.flatMap((each) => logItems(each, logs, removed)),
      ...storage,
    ],
    filesystems,
    hasSharedLayers: images.hasSharedLayers,
  };
}

function objectsOf(listed: readonly ListedPod[], kind: 'containers'): readonly Owned<Container>[];
function objectsOf(listed: readonly ListedPod[], kind: 'sandboxes'): readonly Owned<PodSandbox>[];
function objectsOf(
  listed: readonly ListedPod[],
  kind: 'containers' | 'sandboxes',
): readonly Owned<Container | PodSandbox>[] {
  return listed.flatMap((pod) => (pod.inRuntime?.[kind] ?? []).map((object) => ({object, pod})));
}

async function readImages(
  {signal}: SignalContext,
  connection: Connection,
  {
    listed,
    containers,
    removed,
  }: {
    readonly listed: readonly ListedPod[];
    readonly containers: readonly Container[];
    readonly removed: ReadonlySet<string>;
  },
): Promise<{readonly items: readonly UsageItem[]; readonly hasSharedLayers: boolean}> {
  const reservedBy = createImageReservations(listed);
  const pruner = new ImagePruner(connection, {all: true, reservedBy, removedContainers: removed, signal});
  const plan = await pruner.plan();
  const unused = new Set(plan.images.map(({id}) => id));
  const users = countContainersByImage(pruner.images, containers);
  const {min, max} = pruner.spaceOf(pruner.images);
  const items = pruner.images.map((image): UsageItem => {
    const count = users.get(image.id) ?? 0;
    return {
      type: 'Images',
      name: imageDisplayName(image),
      id: image.id,
      active: count > 0,
      reclaimable: unused.has(image.id),
      detail: image.pinned ? 'pinned' : counted(count, 'container'),
      sizeBytes: image.size,
    };
  });
  return {items, hasSharedLayers: min !== max};
}

function containerItem(
  {object: {id, metadata, state}, pod}: Owned<Container>,
  sizes: ReadonlyMap<string, bigint>,
  removed: ReadonlySet<string>,
): UsageItem {
  return {
    type: 'Containers',
    name: `${formatPodTitle(pod)}/${metadata?.name ?? ''}`,
    id,
    active: state === 'CONTAINER_RUNNING',
    reclaimable: removed.has(id),
    detail: state.replace('CONTAINER_', '').toLowerCase(),
    sizeBytes: sizes.get(id),
  };
}

function sandboxItem({object: {id, state}, pod}: Owned<PodSandbox>, removed: ReadonlySet<string>): UsageItem {
  return {
    type: 'Pods',
    name: formatPodTitle(pod),
    id,
    active: state === 'SANDBOX_READY',
    reclaimable: removed.has(id),
    detail: pod.manager === 'none' ? '<none>' : pod.manager,
    sizeBytes: undefined,
  };
}

function logItems(
  {object: {id, metadata, state}, pod}: Owned<Container>,
  logs: ReadonlyMap<string, bigint>,
  removed: ReadonlySet<string>,
): readonly UsageItem[] {
  const sizeBytes = logs.get(id);
  if (sizeBytes === undefined) return [];
  const name = `${formatPodTitle(pod)}/${metadata?.name ?? ''}`;
  const active = state === 'CONTAINER_RUNNING';
  return [{type: 'Logs', name, id, active, reclaimable: removed.has(id), detail: '', sizeBytes}];
}

async function readFilesystems(
  {images}: Connection,
  signal: AbortSignal,
): Promise<readonly FilesystemItem[]> {
  const info = await withContext('image filesystem info request', images.imageFsInfo({}, {signal}));
  return filesystemRows(info).map(({holds, usage}) => ({
    holds,
    mountpoint: usage.fsId?.mountpoint ?? '',
    usedBytes: usage.usedBytes?.value ?? 0n,
    inodesUsed: usage.inodesUsed?.value ?? 0n,
  }));
}

/** Returns the directories of kcri's pods and claims; those without a pod are not in use. */
async function readStorage(rootDir: string, listed: readonly ListedPod[]): Promise<readonly UsageItem[]> {
  const {claimsOf, measureStorage} = await import('../../kubelet/index.js');
  const {pods, claims} = await measureStorage(rootDir);
  const records = new Map(
    listed.flatMap(({record}) => (record === undefined ? [] : [[record.uid as string, record] as const])),
  );
  const used = new Set([...records.values()].flatMap(({pod}) => claimsOf(pod)));
  return [
    ...pods.map(({name: uid, bytes}): UsageItem => {
      const record = records.get(uid);
      return {
        type: 'Pod directories',
        name: record === undefined ? '<none>' : formatPodTitle(record),
        id: uid,
        active: record !== undefined,
        reclaimable: false,
        detail: '',
        sizeBytes: bytes,
      };
    }),
    ...claims.map(({name, bytes}): UsageItem => ({
      type: 'Volumes',
      name,
      id: name,
      active: used.has(name),
      reclaimable: false,
      detail: used.has(name) ? 'used' : 'unused',
      sizeBytes: bytes,
    })),
  ];
}
