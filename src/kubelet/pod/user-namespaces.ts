import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../api/v1.js';
import type {RandomSource} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {ifPresent, pathSegment, withFileErrors, writeFileAtomic} from '../../base/files.js';
import {acquireLock} from '../../base/lock.js';
import {podDir, type NodeFacts} from '../container/node.js';
import type {IdMapping} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';

/** How many users and groups a pod has, and how many pods can have some (the kubelet's maxPods). */
const IDS_PER_POD = 65_536;
const MAX_PODS = 110;

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** The kubelet's own form of the file `userns` in a pod's directory; users and groups are mapped alike. */
interface MappingsFile {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}

function mappingsPath(node: RootFacts, uid: string): string {
  return join(podDir(node, pathSegment('pod UID', uid)), 'userns');
}

/**
 * The ids on the node that the pod's users and groups are, for a pod that isn't to have the node's own: 65536 that no
 * other pod of the root directory has, remembered in the pod's directory until that is removed. Safe for several
 * processes at once. Rejects with SystemError, and when the lock's wait is aborted with the signal's reason.
 */
export async function allocateUserNamespace(
  node: RootFacts,
  pod: Pod,
  random: RandomSource,
  signal?: AbortSignal,
): Promise<IdMapping> {
  const path = mappingsPath(node, podRef(pod).uid);
  const known = await readMapping(path);
  if (known !== undefined) return known;
  // Neither namespaces nor UIDs begin with an underscore, so that no pod has this lock.
  const lock = await acquireLock(`${node.rootDir}/locks/__userns.lock`, {signal});
  try {
    const mapping = freeMapping(await takenMappings(node), random);
    const file: MappingsFile = {uidMappings: [mapping], gidMappings: [mapping]};
    await writeFileAtomic(path, JSON.stringify(file), 0o600);
    return mapping;
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** What allocateUserNamespace would give now. Changes nothing. */
export async function plannedUserNamespace(node: RootFacts, pod: Pod): Promise<IdMapping> {
  const known = await readMapping(mappingsPath(node, podRef(pod).uid));
  return known ?? freeMapping(await takenMappings(node), () => 0);
}

/**
 * A block that is nobody's, looked for from a random one on, so that ids are not given again at once
 * (userns_manager allocateOne).
 *
 * @throws SystemError when there is none.
 */
function freeMapping(taken: readonly IdMapping[], random: RandomSource): IdMapping {
  const start = random() % MAX_PODS;
  for (let step = 0; step < MAX_PODS; step++) {
    const hostId = (1 + ((start + step) % MAX_PODS)) * IDS_PER_POD;
    const free = taken.every((other) => hostId + IDS_PER_POD <= other.hostId || hostId >= endOf(other));
    if (free) return {hostId, containerId: 0, length: IDS_PER_POD};
  }
  throw new SystemError('create user namespace: could not find an empty slot to allocate a user namespace', {
    hint: `${MAX_PODS} pods with hostUsers: false can run at the same time: end one with "kcri delete"`,
  });
}

function endOf({hostId, length}: IdMapping): number {
  return hostId + length;
}

async function takenMappings(node: RootFacts): Promise<readonly IdMapping[]> {
  const pods = join(node.rootDir, 'pods');
  const uids = (await withFileErrors('reading', pods, () => ifPresent(() => readdir(pods)))) ?? [];
  const mappings = await Promise.all(uids.map((uid) => readMapping(join(pods, uid, 'userns'))));
  return mappings.filter((mapping) => mapping !== undefined);
}

async function readMapping(path: string): Promise<IdMapping | undefined> {
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  if (text === undefined || text === '') return undefined;
  const problem = (what: string): SystemError =>
    new SystemError(`the file "${path}": invalid user namespace ${what}`, {
      hint: 'end the pod that the file belongs to with "kcri delete"',
    });
  const {uidMappings, gidMappings} = parse(text) ?? {};
  if (!isMappings(uidMappings) || !isMappings(gidMappings)) throw problem('mappings file');
  const [uids, ...more] = uidMappings;
  if (uids === undefined || more.length > 0)
    throw problem('configuration: no more than one mapping allowed.');
  if (JSON.stringify(uidMappings) !== JSON.stringify(gidMappings))
    throw problem('configuration: GID and UID mapping should be identical');
  if (uids.containerId !== 0) throw problem('configuration: UID 0 must be mapped');
  return uids;
}

function parse(text: string): Partial<MappingsFile> | undefined {
  try {
    return (JSON.parse(text) ?? undefined) as Partial<MappingsFile> | undefined;
  } catch {
    return undefined; // The caller says so.
  }
}

function isMappings(value: unknown): value is readonly IdMapping[] {
  return (
    Array.isArray(value) &&
    value.every((item: Partial<IdMapping> | null) =>
      [item?.hostId, item?.containerId, item?.length].every(Number.isSafeInteger),
    )
  );
}
