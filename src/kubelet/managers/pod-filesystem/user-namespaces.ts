import {stateDirectory} from '../../../base/fs/state-directory.js';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {RandomSource} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, listDirectoryNames, validatePathSegment, withFileErrors} from '../../../base/fs/files.js';
import {acquireLock} from '../../../base/fs/lock.js';
import {podDir, type NodeFacts} from '../../contract/node-facts.js';
import type {IdMapping} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';

/** Default number of IDs per pod. */
const IDS_PER_POD = 65_536;

type RootFacts = Pick<NodeFacts, 'rootDir' | 'idsPerUserNamespace'>;

/** Content of the file `userns` in a pod's directory, in the kubelet's format; users and groups have equal mappings. */
interface MappingsFile {
  readonly uidMappings: readonly IdMapping[];
  readonly gidMappings: readonly IdMapping[];
}

function mappingsPath(node: RootFacts, uid: string): string {
  return join(podDir(node, validatePathSegment('pod UID', uid)), 'userns');
}

/**
 * Returns the ID mapping of a pod's user namespace, allocating IDs that no other pod of the root directory uses
 * (userns_manager AllocatePodUserNs). The mapping is stored in the pod's directory. Safe for concurrent processes.
 * Rejects with SystemError, or with the signal's reason while waiting for the lock.
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
  // Cannot conflict with the lock of a pod: namespaces and UIDs do not start with an underscore.
  const lock = await acquireLock(`${stateDirectory(node.rootDir)}/locks/__userns.lock`, {signal});
  try {
    const mapping = findFreeMapping(node, await readUsedMappings(node), random);
    const file: MappingsFile = {uidMappings: [mapping], gidMappings: [mapping]};
    await writeFileAtomic(path, JSON.stringify(file), 0o600);
    return mapping;
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** Returns the mapping that allocateUserNamespace would allocate, without changing anything. */
export async function plannedUserNamespace(node: RootFacts, pod: Pod): Promise<IdMapping> {
  const known = await readMapping(mappingsPath(node, podRef(pod).uid));
  return known ?? findFreeMapping(node, await readUsedMappings(node), () => 0);
}

/**
 * Returns an unused mapping, searching from a random one on, so that IDs are not reused immediately (userns_manager
 * allocateOne).
 *
 * @throws SystemError if there is none.
 */
function findFreeMapping(
  {idsPerUserNamespace: length = IDS_PER_POD}: RootFacts,
  used: readonly IdMapping[],
  random: RandomSource,
): IdMapping {
  // All user IDs, as in a kubelet: of their 32 bits the first block belongs to the host, and the last ID is none.
  const slots = Math.floor((2 ** 32 - 1) / length) - 1;
  const start = slots === 0 ? 0 : random() % slots;
  for (let step = 0; step < slots; step++) {
    const hostId = (1 + ((start + step) % slots)) * length;
    const free = used.every((other) => hostId + length <= other.hostId || hostId >= endOf(other));
    if (free) return {hostId, containerId: 0, length};
  }
  throw new SystemError('create user namespace: could not find an empty slot to allocate a user namespace', {
    hint: `${slots} pods with hostUsers: false can run at the same time: delete one with "kcri delete"`,
  });
}

function endOf({hostId, length}: IdMapping): number {
  return hostId + length;
}

async function readUsedMappings(node: RootFacts): Promise<readonly IdMapping[]> {
  const pods = join(node.rootDir, 'pods');
  const uids = await listDirectoryNames(pods);
  const mappings = await Promise.all(uids.map((uid) => readMapping(join(pods, uid, 'userns'))));
  return mappings.filter((mapping) => mapping !== undefined);
}

async function readMapping(path: string): Promise<IdMapping | undefined> {
  const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
  if (text === undefined || text === '') return undefined;
  const problem = (what: string): SystemError =>
    new SystemError(`the file "${path}": invalid user namespace ${what}`, {
      hint: 'delete the pod that the file belongs to with "kcri delete"',
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
    return undefined; // reported by the caller
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
