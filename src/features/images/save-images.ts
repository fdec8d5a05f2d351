import {UsageError} from '../../base/errors.js';
import {withUserFileHints} from '../../base/fs/files.js';
import {writeChunksAtomic} from '../../base/fs/atomic-write.js';
import {humanSize} from '../../format/human-size.js';
import {saveFromStorage} from '../../operations/images/stored/crio-archives.js';
import {onImageRuntime} from '../../operations/images/stored/image-runtime.js';
import {encodeArchive, planSave} from '../../operations/images/stored/save-images.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  OutputContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {withElapsedTime} from '../../cli/output/elapsed-time.js';
import {requireNoTerminal, writeChunks} from '../../cli/output/write-chunks.js';
import {imageRuntime} from './image-runtime.js';

/** Permissions of archives, as those of "docker save": images may contain secrets. */
const ARCHIVE_MODE = 0o600;

/** Writes images into a file, or to standard output for `-`. Rejects with KcriError. */
export async function saveImages(
  services: ConnectionContext & EnvironmentContext & OutputContext & SignalContext,
  references: readonly string[],
  path: string,
): Promise<void> {
  const {out} = services;
  if (path === '-') requireNoTerminal(out.stdout, '-o FILE');
  const runtime = await imageRuntime(services);
  await onImageRuntime('image save', runtime, {
    containerd: async (containerd) => {
      const plan = await planSave(runtime, containerd, references);
      let done = 0;
      async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
        for await (const chunk of encodeArchive(containerd, plan, runtime.signal)) {
          done += chunk.length;
          yield chunk;
        }
      }
      const activity = (): string =>
        `saving ${humanSize(Math.min(done, plan.totalBytes))}/${humanSize(plan.totalBytes)}`;
      await withElapsedTime(write(services, path, chunks()), {
        activity,
        output: out.stderr,
        context: services.context,
      });
    },
    crio: async () => {
      if (path === '-')
        throw new UsageError('images of CRI-O can only be saved into a file', {hint: 'use -o FILE'});
      await saveFromStorage(runtime, references, path);
    },
  });
}

async function write(
  {out, signal}: OutputContext & SignalContext,
  path: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  if (path !== '-') {
    await withUserFileHints(() => writeChunksAtomic(path, chunks, ARCHIVE_MODE));
    return;
  }
  await writeChunks(out.stdout, chunks, signal);
}
