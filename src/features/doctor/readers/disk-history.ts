import {join} from 'node:path';
import {isSystemCallError} from '../../../base/errors.js';
import {writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {stateDirectory} from '../../../base/fs/state-directory.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {isMissing, mapFact, type Fact} from '../fact.js';
import type {DiskHistory, DiskSample, NodeSnapshot} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Number of samples that are kept of each disk, and the least time between two, in ms. */
const KEPT = 100;
const PAUSE_MS = 60 * 60 * 1000;

const fileIn = (rootDir: string): string => join(stateDirectory(rootDir), 'doctor-disks.json');

/** Reads the space of disks at earlier runs. It is that of this machine's, so that a remote node's is unknown. */
export async function readDiskHistory(
  rootDir: string,
  node: FileReader,
  isRemote: boolean,
): Promise<Fact<DiskHistory>> {
  if (isRemote) return {error: 'the space of disks of remote nodes is not kept'};
  const text = await node.text(fileIn(rootDir));
  if (isMissing(text)) return {error: 'no earlier run is recorded', isMissing: true};
  return mapFact(text, parseDiskHistory);
}

/** Returns the samples in a file; those of a broken file are empty. Pure. */
export function parseDiskHistory(text: string): DiskHistory {
  return Object.fromEntries(
    Object.entries(parseJsonObject(text)).map(([path, list]) => [
      path,
      (Array.isArray(list) ? list : []).filter(isSample).slice(-KEPT),
    ]),
  );
}

function isSample(value: unknown): value is DiskSample {
  if (!isObject(value)) return false;
  const {at, availableBytes} = value;
  return typeof at === 'string' && Number.isFinite(Date.parse(at)) && typeof availableBytes === 'number';
}

/** Returns the history with the space of now, unless the last sample is less than an hour old. Pure. */
export function extendDiskHistory({takenAt, disks, diskHistory}: NodeSnapshot): DiskHistory {
  const before = 'value' in diskHistory ? diskHistory.value : {};
  const samples = disks.flatMap(({path, space}): readonly (readonly [string, readonly DiskSample[]])[] => {
    const earlier = before[path] ?? [];
    const last = Date.parse(earlier.at(-1)?.at ?? '');
    if ('error' in space || Date.parse(takenAt) - last < PAUSE_MS) return [];
    const {availableBytes} = space.value;
    return [[path, [...earlier, {at: takenAt, availableBytes}].slice(-KEPT)]];
  });
  return {...before, ...Object.fromEntries(samples)};
}

/**
 * Adds the space of the disks to the history. Nothing is written into a root directory that kcri has not used, and a history that
 * this user cannot write is left as it is.
 */
export async function recordDisks(rootDir: string, snapshot: NodeSnapshot): Promise<void> {
  const {diskHistory} = snapshot;
  if ('error' in diskHistory && diskHistory.isMissing !== true) return;
  const text = `${JSON.stringify(extendDiskHistory(snapshot))}\n`;
  try {
    await writeFileAtomicWithoutSync(fileIn(rootDir), text, 0o600);
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
  }
}
