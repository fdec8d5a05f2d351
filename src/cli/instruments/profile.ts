import {writeFile} from 'node:fs/promises';
import {Session} from 'node:inspector/promises';
import {resolve} from 'node:path';
import {messageOf} from '../../base/errors.js';
import {onNamedFiles, withFileErrors} from '../../base/files.js';
import type {Instrument, InstrumentedCommand} from './instrument.js';

/** Where the profiles go. */
export interface ProfilePaths {
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
}

/** What is profiled, crictl's name of it, and how V8 is asked to start and to tell. */
const KINDS = {
  cpu: {
    title: 'CPU',
    start: async (session: Session) => {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
    },
    stop: async (session: Session) => (await session.post('Profiler.stop')).profile,
  },
  memory: {
    title: 'memory',
    start: async (session: Session) => {
      await session.post('HeapProfiler.startSampling');
    },
    stop: async (session: Session) => (await session.post('HeapProfiler.stopSampling')).profile,
  },
} as const;

/**
 * Profiles this process with V8's own profilers until `finish`, which writes the files: a .cpuprofile and a
 * .heapprofile, as Chrome's and VS Code's tools read them (crictl's are Go's). Throws SystemError when a file
 * can't be made.
 */
export async function startProfiles(paths: ProfilePaths, command: InstrumentedCommand): Promise<Instrument> {
  const session = new Session();
  session.connect();
  const wanted = (['cpu', 'memory'] as const).flatMap((kind) => {
    const path = paths[kind];
    return path === undefined ? [] : [{...KINDS[kind], path: resolve(path)}];
  });
  for (const {title, path, start} of wanted) {
    // The command should not do its work for a profile that has no place.
    await onNamedFiles(() => withFileErrors('writing', path, () => writeFile(path, '')));
    command.inform(`Creating ${title} profile in: ${path}`);
    await start(session);
  }
  const finish = async (): Promise<void> => {
    for (const {title, path, stop} of wanted) {
      try {
        await writeFile(path, JSON.stringify(await stop(session)));
      } catch (error) {
        command.warn(`the ${title} profile could not be written to "${path}": ${messageOf(error)}`);
      }
    }
    session.disconnect();
  };
  return {finish};
}
