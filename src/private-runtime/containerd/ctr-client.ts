import type {Readable} from 'node:stream';
import {runHostProgram} from '../process/run-host-program.js';

/** Operations of containerd that CRI lacks, such as importing an image from a file; implemented with `ctr`. */
export interface CtrClient {
  /** Returns the names of all images in the CRI namespace. */
  listImageNames(signal: AbortSignal): Promise<readonly string[]>;
  /** Returns name and digest of every image. */
  listImages(signal: AbortSignal): Promise<readonly {readonly name: string; readonly digest: string}[]>;
  /** Imports an archive from a file or a stream. */
  importArchive(archive: string | Readable, signal: AbortSignal): Promise<void>;
  labelImage(name: string, label: string, signal: AbortSignal): Promise<void>;
}

/** Creates a client of the containerd at `socket`; `snapshotter` unpacks its images. */
export function createCtrClient(ctr: string, socket: string, snapshotter: string): CtrClient {
  const env = {CONTAINERD_ADDRESS: socket, CONTAINERD_NAMESPACE: 'k8s.io'};
  const run = (args: readonly string[], signal: AbortSignal, input?: Readable): Promise<string> =>
    runHostProgram(ctr, ['images', ...args], {signal, input, env});
  const images = async (signal: AbortSignal): Promise<{name: string; digest: string}[]> =>
    rows(await run(['list'], signal)).map(([name = '', , digest = '']) => ({name, digest}));
  return {
    listImages: images,
    listImageNames: async (signal) => (await images(signal)).map(({name}) => name),
    importArchive: async (archive, signal) => {
      const [file, input] = typeof archive === 'string' ? [archive, undefined] : ['-', archive];
      await run(['import', '--snapshotter', snapshotter, file], signal, input);
    },
    labelImage: async (name, label, signal) => {
      await run(['label', name, label], signal);
    },
  };
}

/** Splits the rows of a table, without its heading, into words. */
function rows(table: string): string[][] {
  return table
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/));
}
