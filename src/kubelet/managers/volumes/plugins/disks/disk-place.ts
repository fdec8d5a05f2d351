import {join} from 'node:path';
import {SystemError} from '../../../../../base/errors.js';
import {listDirectoryNames, listNames, MAX_SEGMENT_LENGTH} from '../../../../../base/fs/files.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {POD_DEVICES} from '../../block/block-paths.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Kinds of volumes on disks that the node attaches itself, with the number of directories that name a disk. */
const DEPTHS = {iscsi: 2, fc: 1} as const;

/** File with which a disk is detached, in its directory. */
export const DISK_FILE = 'iscsi.json';

/** A kind of volumes on disks that the node attaches itself. */
export type DiskKind = keyof typeof DEPTHS;

/** All kinds of volumes on disks that the node attaches itself. */
export const DISK_KINDS = Object.keys(DEPTHS) as readonly DiskKind[];

/** Place of a disk in the root directory, which tells what it is. */
export interface DiskPlace {
  readonly kind: DiskKind;
  /** True if pods have the disk as a device, false if its filesystem is mounted. */
  readonly isBlock: boolean;
  /** Names of the directories below that of the kind. */
  readonly names: readonly string[];
}

/** Returns the name of the directory of a kind in the directories of pods: `kubernetes.io~iscsi`. */
export function podDirectoryOf(kind: DiskKind): string {
  return `kubernetes.io~${kind}`;
}

/** Returns the directory in which the disks of a kind are mounted for all pods (GetPluginDir). */
export function kindDir({rootDir}: RootFacts, kind: DiskKind): string {
  return join(rootDir, 'plugins/kubernetes.io', kind);
}

/** Returns the directory of a disk: its mount for all pods, or the directory with the maps of its device. */
export function diskDir(node: RootFacts, place: DiskPlace): string {
  return join(kindDir(node, place.kind), placeText(place));
}

/** Returns the path of a place below the directory of its kind. */
export function placeText({isBlock, names}: DiskPlace): string {
  return [...(isBlock ? [POD_DEVICES] : []), ...names].join('/');
}

/** Returns the place with this text; undefined if there is none. */
export function parsePlace(kind: DiskKind, text: string): DiskPlace | undefined {
  const [first, ...rest] = text.split('/');
  const isBlock = first === POD_DEVICES;
  const names = isBlock ? rest : text.split('/');
  if (names.length !== DEPTHS[kind] || !names.every(isDirectoryName)) return undefined;
  return {kind, isBlock, names};
}

/**
 * Creates a place from the parts of a volume's source.
 *
 * @throws SystemError for a part that cannot be the name of a directory.
 */
export function createPlace(kind: DiskKind, isBlock: boolean, names: readonly string[]): DiskPlace {
  const wrong = names.find((name) => !isDirectoryName(name) || name === POD_DEVICES);
  if (wrong === undefined) return {kind, isBlock, names};
  throw new SystemError(`the disk ${JSON.stringify(wrong)} cannot be the name of a directory`, {
    hint: `use at most ${MAX_SEGMENT_LENGTH} characters, without "/", in the fields that identify the disk`,
  });
}

function isDirectoryName(name: string): boolean {
  const isOther = name !== '' && name !== '.' && name !== '..';
  // Control characters would break lines of files and messages.
  return isOther && !/[/\p{Cc}]/u.test(name) && Buffer.byteLength(name) <= MAX_SEGMENT_LENGTH;
}

/** Reports whether two places are one. */
export function isSamePlace(a: DiskPlace, b: DiskPlace): boolean {
  return a.kind === b.kind && placeText(a) === placeText(b);
}

/** Returns the places of a kind that have a directory. Rejects with SystemError. */
export async function listPlaces(node: RootFacts, kind: DiskKind): Promise<readonly DiskPlace[]> {
  const directory = kindDir(node, kind);
  const texts = [
    ...(await listBelow(directory, DEPTHS[kind])).filter((text) => text.split('/')[0] !== POD_DEVICES),
    ...(await listBelow(join(directory, POD_DEVICES), DEPTHS[kind])).map((text) => `${POD_DEVICES}/${text}`),
  ];
  return texts.flatMap((text) => parsePlace(kind, text) ?? []);
}

/** Returns the paths of the directories at a depth. */
async function listBelow(directory: string, depth: number): Promise<readonly string[]> {
  const names = await listDirectoryNames(directory);
  if (depth === 1) return names;
  const found: string[] = [];
  for (const name of names.filter((each) => each !== POD_DEVICES))
    for (const below of await listBelow(join(directory, name), depth - 1)) found.push(`${name}/${below}`);
  return found;
}

/** Returns the UIDs of the pods for which the device of a disk is mapped in its directory. Rejects with SystemError. */
export async function listMapUsers(directory: string): Promise<readonly string[]> {
  // Names of temporary files begin with a period.
  return (await listNames(directory)).filter((name) => name !== DISK_FILE && !name.startsWith('.'));
}
