import {createReadStream} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {pipeline, type Readable} from 'node:stream';
import {createGunzip} from 'node:zlib';
import {SystemError} from '../../base/errors.js';
import {ifPresent, withFile, withFileErrors} from '../../base/fs/files.js';
import type {CtrClient} from '../containerd/ctr-client.js';
import {streamHostProgramOutput, runHostProgram} from '../process/run-host-program.js';

/** Source to import images from. */
export interface ImageSource {
  /** Returns a file at the top level of the source; undefined if there is none of this name. */
  read(name: string, signal: AbortSignal): Promise<string | undefined>;
  importInto(client: CtrClient, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the source at `path`: a directory is an OCI image layout, a file an archive. Throws SystemError for anything
 * else.
 */
export async function openImageSource(path: string): Promise<ImageSource> {
  const about = await withFileErrors('reading', path, () => stat(path));
  if (about.isDirectory()) return directorySource(path);
  if (about.isFile()) return archiveSource(path);
  throw new SystemError(`"${path}" is neither a file nor a directory`);
}

function directorySource(path: string): ImageSource {
  return {
    read: (name) => ifPresent(() => readFile(join(path, name), 'utf8')),
    importInto: async (client, signal) => {
      const archive = streamHostProgramOutput('tar', ['--create', '--directory', path, '.'], signal);
      await client.importArchive(archive, signal);
    },
  };
}

function archiveSource(path: string): ImageSource {
  return {
    read: async (name, signal) => {
      const member = (await members(path, signal)).find((line) => line === name || line === `./${name}`);
      if (member === undefined) return undefined;
      return runHostProgram('tar', ['--extract', '--to-stdout', '--file', path, member], {signal});
    },
    importInto: async (client, signal) => {
      // containerd 1.6 reads plain archives only.
      const archive = (await isGzip(path)) ? gunzipped(path) : path;
      await client.importArchive(archive, signal);
    },
  };
}

async function members(path: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await runHostProgram('tar', ['--list', '--file', path], {signal})).split('\n');
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new SystemError(`"${path}" is not a complete archive`, {
      cause: error,
      hint: 'use an OCI or docker archive (tar, optionally gzipped), or a directory with an OCI image layout',
    });
  }
}

/** Decompresses a file; errors of reading the file are errors of the stream. */
function gunzipped(path: string): Readable {
  return pipeline(createReadStream(path), createGunzip(), () => undefined);
}

async function isGzip(path: string): Promise<boolean> {
  const start = Buffer.alloc(2);
  await withFile(path, 'r', 0, (file) => file.read(start, 0, 2));
  return start.equals(Buffer.from([0x1f, 0x8b]));
}
