import {writeFile} from 'node:fs/promises';
import {Session} from 'node:inspector/promises';
import {resolve} from 'node:path';
import {messageOf, SystemError} from '../../base/errors.js';
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

/** Bun has V8's way of asking for a CPU profile only. */
const NO_PROFILER = 'a kcri that needs no Node.js can not profile memory; use one that runs on Node.js';

/**
 * Profiles this process with V8's own profilers until `finish`, which writes the files: a .cpuprofile and a
 * .heapprofile, as Chrome's and VS Code's tools read them (crictl's are Go's). Throws SystemError when a file
 * can't be made, and when there is no such profiler.
 */
export async function startProfiles(paths: ProfilePaths, command: InstrumentedCommand): Promise<Instrument> {
  const session = new Session();
  session.connect();
  const wanted = (['cpu', 'memory'] as const).flatMap((kind) => {
    const path = paths[kind];
    return path === undefined ? [] : [{...KINDS[kind], path: resolve(path)}];
  });
  for (const {title, path, start} of wanted) {
    await start(session).catch((error: unknown) => {
      throw new SystemError(`starting the ${title} profile: ${messageOf(error)}`, {
        cause: error,
        hint: NO_PROFILER,
      });
    });
    // The command should not do its work for a profile that has no place.
    await onNamedFiles(() => withFileErrors('writing', path, () => writeFile(path, '')));
    command.inform(`Creating ${title} profile in: ${path}`);
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
