import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {SystemError, UsageError} from '../../base/errors.js';
import {withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import {humanSize} from '../../format/human-size.js';
import {loadIntoStorage} from '../../operations/images/stored/crio-archives.js';
import {onImageRuntime, type ImageRuntime} from '../../operations/images/stored/image-runtime.js';
import {loadArchive} from '../../operations/images/stored/load-images.js';
import {withContext} from '../../operations/with-context.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  OutputContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {withElapsedTime} from '../../cli/output/elapsed-time.js';
import {imageRuntime} from './image-runtime.js';

/** Loads the images of an archive, `-` for standard input, and returns their names. Rejects with KcriError. */
export async function loadImages(
  services: ConnectionContext & EnvironmentContext & OutputContext & SignalContext,
  path: string,
  name: string | undefined,
): Promise<readonly string[]> {
  const runtime = await imageRuntime(services);
  const shown = path === '-' ? 'standard input' : `"${path}"`;
  return await withContext(
    `loading ${shown}`,
    onImageRuntime('image load', runtime, {
      containerd: async (containerd) => {
        let done = 0;
        let activity = 'loading';
        const loading = loadArchive(runtime, containerd, await openArchive(services, path), {
          name,
          onProgress: (bytes) => {
            done += bytes;
          },
          onUnpack: () => {
            activity = 'unpacking';
          },
        });
        return await withElapsedTime(loading, {
          activity: () => `${activity} ${shown}, ${humanSize(done)}`,
          output: services.out.stderr,
          context: services.context,
        });
      },
      crio: async () => await loadFromFile(runtime, path),
    }),
  );
}

async function loadFromFile(runtime: ImageRuntime, path: string): Promise<readonly string[]> {
  if (path === '-') throw new UsageError('CRI-O loads images only from a file', {hint: 'use -i FILE'});
  return await loadIntoStorage(runtime, path);
}

async function openArchive({context}: EnvironmentContext, path: string): Promise<AsyncIterable<Uint8Array>> {
  const {stdin} = context;
  if (path === '-') {
    if ('isTTY' in stdin && stdin.isTTY)
      throw new UsageError('no archive on standard input', {hint: 'use -i FILE, or a pipe'});
    return bytesOf(stdin as AsyncIterable<Uint8Array | string>);
  }
  const about = await withUserFileHints(() => withFileErrors('reading', path, () => stat(path)));
  if (about.isDirectory())
    throw new SystemError(`"${path}" is a directory`, {
      hint: `use tar: tar -C ${path} -c . | kcri image load`,
    });
  return readFileChunks(path);
}

async function* bytesOf(
  input: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

const CHUNK_BYTES = 512 * 1024;

async function* readFileChunks(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = createReadStream(path, {highWaterMark: CHUNK_BYTES});
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw await withUserFileHints(() =>
      withFileErrors('reading', path, () => Promise.reject(error as Error)),
    ).catch((each: unknown) => each);
  }
}
