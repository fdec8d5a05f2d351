import {writeFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {messageOf, SystemError} from '../../base/errors.js';
import {withUserFileHints, withFileErrors} from '../../base/fs/files.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {startCpuProfile, startHeapProfile, type RunningProfile} from '../../base/host/v8-profiler.js';
import type {Diagnostic, DiagnosedCommand} from './diagnostic.js';

/** Output paths of the profiles. */
export interface ProfilePaths {
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
}

/** Profile kinds, with crictl's titles and their profilers. */
const KINDS = {
  cpu: {title: 'CPU', start: startCpuProfile},
  memory: {title: 'memory', start: startHeapProfile},
} as const;

/** Hint for Bun, which supports only CPU profiles through V8's inspector. */
const NO_PROFILER = 'the standalone executable cannot profile memory; use kcri on Node.js';

/**
 * Profiles this process with V8's profilers until `finish`, which writes a .cpuprofile and a .heapprofile for Chrome's
 * and VS Code's tools (crictl writes Go's formats). Rejects with SystemError if a file cannot be created or a profiler
 * does not exist.
 */
export async function startProfiles(paths: ProfilePaths, command: DiagnosedCommand): Promise<Diagnostic> {
  const wanted = (['cpu', 'memory'] as const).flatMap((kind) => {
    const path = paths[kind];
    return path === undefined ? [] : [{...KINDS[kind], path: resolve(path)}];
  });
  const running: {readonly title: string; readonly path: string; readonly profile: RunningProfile<object>}[] =
    [];
  for (const {title, path, start} of wanted) {
    const profile = await start().catch((error: unknown) => {
      throw new SystemError(`cannot start the ${title} profile: ${messageOf(error)}`, {
        cause: error,
        hint: NO_PROFILER,
      });
    });
    running.push({title, path, profile});
    // Fail before the command runs if the profile cannot be written.
    await withUserFileHints(() => withFileErrors('writing', path, () => writeFile(path, '')));
    command.inform(`Creating ${title} profile in: ${path}`);
  }
  const finish = async (): Promise<void> => {
    for (const {title, path, profile} of running) {
      try {
        await writeFile(path, JSON.stringify(await profile.stop()));
      } catch (error) {
        command.warn(`cannot write the ${title} profile to "${path}": ${systemErrorMessage(error)}`);
      }
    }
  };
  return {finish};
}
