import {createReadStream} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {pipeline, type Readable} from 'node:stream';
import {createGunzip} from 'node:zlib';
import {SystemError} from '../base/errors.js';
import {ifPresent, withFile, withFileErrors} from '../base/files.js';
import type {ContainerdClient} from './ctr.js';
import {programOutput, runProgram} from './run-program.js';

/** Where images are imported from. */
export interface ImageSource {
  /** A file at the source's top; undefined when it has none of this name. */
  read(name: string, signal: AbortSignal): Promise<string | undefined>;
  importInto(client: ContainerdClient, signal: AbortSignal): Promise<void>;
}

/** The source at `path`: a directory is an OCI image layout, a file an archive. Throws SystemError when there is none. */
export async function imageSource(path: string): Promise<ImageSource> {
  const about = await withFileErrors('reading', path, () => stat(path));
  if (about.isDirectory()) return directorySource(path);
  if (about.isFile()) return archiveSource(path);
  throw new SystemError(`"${path}" is neither a file nor a directory`);
}

function directorySource(path: string): ImageSource {
  return {
    read: (name) => ifPresent(() => readFile(join(path, name), 'utf8')),
    importInto: async (client, signal) => {
      const archive = programOutput('tar', ['--create', '--directory', path, '.'], signal);
      await client.importArchive(archive, signal);
    },
  };
}

function archiveSource(path: string): ImageSource {
  return {
    read: async (name, signal) => {
      const member = (await members(path, signal)).find((line) => line === name || line === `./${name}`);
      if (member === undefined) return undefined;
      return runProgram('tar', ['--extract', '--to-stdout', '--file', path, member], {signal});
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
    return (await runProgram('tar', ['--list', '--file', path], {signal})).split('\n');
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new SystemError(`"${path}" is not a whole archive`, {
      cause: error,
      hint: 'give an OCI or docker archive (tar, also with gzip), or a directory with an OCI image layout',
    });
  }
}

/** Errors of reading the file come out of it as well. */
function gunzipped(path: string): Readable {
  return pipeline(createReadStream(path), createGunzip(), () => undefined);
}

async function isGzip(path: string): Promise<boolean> {
  const start = Buffer.alloc(2);
  await withFile(path, 'r', 0, (file) => file.read(start, 0, 2));
  return start.equals(Buffer.from([0x1f, 0x8b]));
}
