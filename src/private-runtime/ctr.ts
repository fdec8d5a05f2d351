import type {Readable} from 'node:stream';
import {runProgram} from './run-program.js';

/** What kcri asks of containerd beside CRI, which can't take an image from a file: through `ctr`. */
export interface ContainerdClient {
  /** The names of all images, in CRI's namespace. */
  imageNames(signal: AbortSignal): Promise<readonly string[]>;
  /** Name and digest of every image. */
  images(signal: AbortSignal): Promise<readonly {readonly name: string; readonly digest: string}[]>;
  /** Imports an archive: a file, or a stream of one. */
  importArchive(archive: string | Readable, signal: AbortSignal): Promise<void>;
  labelImage(name: string, label: string, signal: AbortSignal): Promise<void>;
}

/** A client of the containerd at `socket`; `snapshotter` is where its images are unpacked. */
export function containerdClient(ctr: string, socket: string, snapshotter: string): ContainerdClient {
  const env = {CONTAINERD_ADDRESS: socket, CONTAINERD_NAMESPACE: 'k8s.io'};
  const run = (args: readonly string[], signal: AbortSignal, input?: Readable): Promise<string> =>
    runProgram(ctr, ['images', ...args], {signal, input, env});
  const images = async (signal: AbortSignal): Promise<{name: string; digest: string}[]> =>
    rows(await run(['list'], signal)).map(([name = '', , digest = '']) => ({name, digest}));
  return {
    images,
    imageNames: async (signal) => (await images(signal)).map(({name}) => name),
    importArchive: async (archive, signal) => {
      const [file, input] = typeof archive === 'string' ? [archive, undefined] : ['-', archive];
      await run(['import', '--snapshotter', snapshotter, file], signal, input);
    },
    labelImage: async (name, label, signal) => {
      await run(['label', name, label], signal);
    },
  };
}

/** The words of every line of a table below its heading. */
function rows(table: string): string[][] {
  return table
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/));
}
