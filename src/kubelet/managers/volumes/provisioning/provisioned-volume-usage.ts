import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {listDirectoryNames} from '../../../../base/fs/files.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {blockPaths, stagingPath} from '../csi/csi-paths.js';
import {listPodCsiVolumes, readPodCsiVolume} from '../csi/volume-data.js';
import type {ProvisionedVolume} from './provisioned-volume-store.js';

type Node = Pick<NodeFacts, 'rootDir'>;

/** Reads the volumes in the directories of pods; returns a function that reports whether a pod has a volume. */
export async function findUsedVolumes(node: Node): Promise<(record: ProvisionedVolume) => boolean> {
  const used = new Set<string>();
  for (const uid of await listDirectoryNames(join(node.rootDir, 'pods'))) {
    for (const volume of await listPodCsiVolumes(join(node.rootDir, 'pods', uid))) {
      const data = await readPodCsiVolume(node, volume);
      if (data !== undefined) used.add(`${data.driverName}^${data.volumeHandle}`);
    }
  }
  return ({volume}) => {
    const {driver = '', volumeHandle: handle = ''} = volume?.spec.csi ?? {};
    return used.has(`${driver}^${handle}`);
  };
}

/** Reports whether a volume is staged on the node, or has devices of pods. */
export function isStaged(node: Node, {name, request, volume}: ProvisionedVolume): boolean {
  const source = volume?.spec.csi;
  if (source === undefined) return false;
  const {driver, volumeHandle: handle = ''} = source;
  return existsSync(
    request.blockName === undefined
      ? dirname(stagingPath(node, {driver, handle}))
      : blockPaths(node, name).directory,
  );
}
