import {writeFile} from 'node:fs/promises';
import {Session} from 'node:inspector/promises';
import {resolve} from 'node:path';
import {messageOf, SystemError} from '../../base/errors.js';
import {withUserFileHints, withFileErrors} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {Diagnostic, DiagnosedCommand} from './diagnostic.js';

/** Output paths of the profiles. */
export interface ProfilePaths {
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
}

/** Profile kinds, with crictl's titles and the V8 inspector calls that start and stop them. */
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

/** Hint for Bun, which supports only CPU profiles through V8's inspector. */
const NO_PROFILER = 'the standalone executable cannot profile memory; use kcri on Node.js';

/**
 * Profiles this process with V8's profilers until `finish`, which writes a .cpuprofile and a .heapprofile for Chrome's
 * and VS Code's tools (crictl writes Go's formats). Rejects with SystemError if a file cannot be created or a profiler
 * does not exist.
 */
export async function startProfiles(paths: ProfilePaths, command: DiagnosedCommand): Promise<Diagnostic> {
  const session = new Session();
  session.connect();
  const wanted = (['cpu', 'memory'] as const).flatMap((kind) => {
    const path = paths[kind];
    return path === undefined ? [] : [{...KINDS[kind], path: resolve(path)}];
  });
  for (const {title, path, start} of wanted) {
    await start(session).catch((error: unknown) => {
      throw new SystemError(`cannot start the ${title} profile: ${messageOf(error)}`, {
        cause: error,
        hint: NO_PROFILER,
      });
    });
    // Fail before the command runs if the profile cannot be written.
    await withUserFileHints(() => withFileErrors('writing', path, () => writeFile(path, '')));
    command.inform(`Creating ${title} profile in: ${path}`);
  }
  const finish = async (): Promise<void> => {
    for (const {title, path, stop} of wanted) {
      try {
        await writeFile(path, JSON.stringify(await stop(session)));
      } catch (error) {
        command.warn(`cannot write the ${title} profile to "${path}": ${systemErrorMessage(error)}`);
      }
    }
    session.disconnect();
  };
  return {finish};
}
