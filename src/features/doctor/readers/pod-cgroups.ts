import {join} from 'node:path';
import {podOfCgroup} from '../../../base/host/pod-of-cgroup.js';
import {isMissing, valueOf, type Fact} from '../fact.js';
import type {PodCgroup} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Cgroups of the kubelet's pods with the drivers cgroupfs and systemd, and those of QoS classes in them. */
const ROOTS = [
  ['kubepods', 'burstable', 'besteffort'],
  ['kubepods.slice', 'kubepods-burstable.slice', 'kubepods-besteffort.slice'],
] as const;
/** Directories of cgroup v1 that have all cgroups. */
const HIERARCHIES = ['', 'pids', 'memory'];
const MAX_PODS = 10_000;

/** Reads the cgroups of pods. */
export async function readPodCgroups(mount: string, node: FileReader): Promise<Fact<readonly PodCgroup[]>> {
  for (const hierarchy of HIERARCHIES) {
    const lists = await Promise.all(
      ROOTS.flatMap(([root, ...classes]) => {
        const directory = join(mount, hierarchy, root);
        return ['', ...classes].map(async (name) => await readDirectory(join(directory, name), node));
      }),
    );
    const unread = lists.find((list) => 'error' in list && !isMissing(list));
    if (unread !== undefined) return unread;
    const found = lists.flatMap((list) => valueOf(list) ?? []);
    if (found.length > 0) return {value: found};
  }
  return {value: []};
}

async function readDirectory(directory: string, node: FileReader): Promise<Fact<readonly PodCgroup[]>> {
  const names = await node.names(directory);
  if ('error' in names) return names;
  const pods = names.value.flatMap((name) => {
    const uid = podOfCgroup(name);
    return uid === undefined ? [] : [{uid, path: join(directory, name)}];
  });
  return {
    value: await Promise.all(
      pods.slice(0, MAX_PODS).map(async ({uid, path}) => ({
        uid,
        path,
        modifiedAt: valueOf(await node.file(path))?.modifiedAt ?? '',
      })),
    ),
  };
}
