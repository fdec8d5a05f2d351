import {readFile} from 'node:fs/promises';

/** Mapping between the user or group IDs of a user namespace and those of this process. */
export interface IdMap {
  /** Returns the ID inside the namespace; the overflow ID if it has none. */
  toInner(id: number): number;
  /** Returns the ID of this process for one inside the namespace; undefined if it is not mapped. */
  toOuter(id: number): number | undefined;
}

/** Mappings of users and groups. */
export interface OwnerMap {
  readonly uid: IdMap;
  readonly gid: IdMap;
}

/** ID that the kernel shows for IDs that are not mapped: nobody. */
const OVERFLOW_ID = 65_534;

/** Mapping of a process in the user namespace of this one. */
const IDENTITY: IdMap = {toInner: (id) => id, toOuter: (id) => id};

/** Mapping of a container without a user namespace of its own. */
export const SAME_OWNERS: OwnerMap = {uid: IDENTITY, gid: IDENTITY};

/** Parses /proc/<pid>/uid_map or gid_map (user_namespaces(7)): ranges of first inner ID, first outer ID and count. */
export function parseIdMap(text: string): IdMap {
  const ranges = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([inner = 0, outer = 0, count = 0]) => ({inner, outer, count}));
  return {
    toInner: (id) => {
      const range = ranges.find(({outer, count}) => id >= outer && id < outer + count);
      return range === undefined ? OVERFLOW_ID : range.inner + id - range.outer;
    },
    toOuter: (id) => {
      const range = ranges.find(({inner, count}) => id >= inner && id < inner + count);
      return range === undefined ? undefined : range.outer + id - range.inner;
    },
  };
}

/** Reads the mappings of a process. Rejects with the system error. */
export async function readOwnerMap(pid: number): Promise<OwnerMap> {
  const [uid, gid] = await Promise.all(
    ['uid_map', 'gid_map'].map(async (name) => parseIdMap(await readFile(`/proc/${pid}/${name}`, 'utf8'))),
  );
  return {uid: uid ?? IDENTITY, gid: gid ?? IDENTITY};
}
