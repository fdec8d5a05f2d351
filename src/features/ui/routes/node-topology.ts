import {KcriError} from '../../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../../base/host/kubelet-root-dir.js';
import type {SettingsContext} from '../../../cli/command/contexts.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import {readCpuOwners, type OwnedCpu} from '../../../kubelet/index.js';
import type {UiSocket} from '../protocol.js';

/**
 * Returns the sockets, NUMA nodes and cores of this machine with who owns their CPUs; undefined if the machine or the state of
 * its kubelets cannot be read. `nameOf` returns the name of the pod with a UID.
 */
export async function readTopology(
  {settings}: SettingsContext,
  nameOf: (uid: string) => string | undefined,
): Promise<readonly UiSocket[] | undefined> {
  try {
    const all = await Promise.all(
      [...new Set([settings.rootDir, KUBELET_ROOT_DIR])].map(async (rootDir) => await readCpuOwners(rootDir)),
    );
    const [first = [], ...others] = all;
    const owned = first.map((cpu, index) => ({
      ...cpu,
      owners: [cpu, ...others.flatMap((each) => each[index] ?? [])].flatMap(({owners}) => owners),
    }));
    return computeTopology(owned, nameOf);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return undefined;
  }
}

/** Groups CPUs by socket, NUMA node and core. `nameOf` returns the name of the pod with a UID. Pure. */
export function computeTopology(
  cpus: readonly OwnedCpu[],
  nameOf: (uid: string) => string | undefined,
): readonly UiSocket[] {
  const titleOf = ({uid, container}: OwnedCpu['owners'][number]): string =>
    `${nameOf(uid) ?? uid}/${container}`;
  return groupBy(cpus, ({socket}) => socket).map(([socket, ofSocket]) => ({
    id: socket,
    numaNodes: groupBy(ofSocket, ({numaNode}) => numaNode).map(([numaNode, ofNode]) => {
      const memoryBytes = ofNode[0]?.memoryBytes;
      return {
        id: numaNode,
        ...(memoryBytes !== undefined && {memoryBytes}),
        cores: groupBy(ofNode, ({core}) => core).map(([core, threads]) => ({
          id: core,
          cpus: threads.map(({id, owners}) => ({
            id,
            owner: escapeToLine(owners.map(titleOf).join(', ') || 'shared'),
            isExclusive: owners.length > 0,
          })),
        })),
      };
    }),
  }));
}

function groupBy<T>(
  items: readonly T[],
  keyOf: (item: T) => number,
): readonly (readonly [number, readonly T[]])[] {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups].toSorted(([a], [b]) => a - b);
}
