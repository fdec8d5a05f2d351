import {readdir, realpath} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {ifPresent} from '../../base/files.js';

/** What the kubelet puts behind a log's name when it rotates it, and Docker; either may be gzipped. */
const ROTATED = /^\.(?:(\d{8}-\d{6})|(\d{1,6}))(\.gz)?$/;

interface Rotated {
  readonly path: string;
  readonly order: number;
  readonly gzipped: boolean;
}

/**
 * The files into which a log was rotated, the oldest first: the kubelet's `0.log.20261120-140000` and Docker's
 * `….log.1`, beside the file that the path leads to. One that is being gzipped and is there twice is given once.
 */
export async function rotatedSegments(path: string): Promise<readonly string[]> {
  const resolve = async (to: string): Promise<string> => (await ifPresent(() => realpath(to))) ?? to;
  const beside = new Set([join(await resolve(dirname(path)), basename(path)), await resolve(path)]);
  const found = await Promise.all([...beside].map(async (log) => await rotatedBeside(log)));
  return found.flat();
}

async function rotatedBeside(path: string): Promise<readonly string[]> {
  const names = (await ifPresent(() => readdir(dirname(path)))) ?? [];
  const name = basename(path);
  const rotated = names.flatMap((entry) => {
    const [, moment, number, gzip] = entry.startsWith(name)
      ? (ROTATED.exec(entry.slice(name.length)) ?? [])
      : [];
    if (moment === undefined && number === undefined) return [];
    // Docker's numbers grow with age.
    const order = moment === undefined ? -Number(number) : Number(moment.replace('-', ''));
    return [{path: join(dirname(path), entry), order, gzipped: gzip !== undefined}];
  });
  return rotated
    .filter((segment) => !isTwice(segment, rotated))
    .toSorted((a, b) => a.order - b.order)
    .map((segment) => segment.path);
}

function isTwice({gzipped, order}: Rotated, all: readonly Rotated[]): boolean {
  return gzipped && all.some((other) => !other.gzipped && other.order === order);
}
