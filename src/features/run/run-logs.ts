import {stateDirectoriesTo, stateDirectory} from '../../base/fs/state-directory.js';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {makeDirectories, withFileErrors} from '../../base/fs/files.js';
import {RUN_NAMESPACE} from '../../operations/run/image-run-configs.js';

/**
 * Creates and returns the directory of the logs of `run` and `debug`, below kcri's root directory: a kubelet removes the
 * logs of unknown pods from /var/log/pods. Its files are named after pods, so that no empty directories remain. Rejects
 * with SystemError.
 */
export async function prepareRunLogs(rootDir: string): Promise<string> {
  const directory = runLogDirectory(rootDir);
  await makeDirectories(stateDirectoriesTo(rootDir, directory));
  return directory;
}

/** Removes a log if it exists. Rejects with SystemError. */
export async function removeRunLog(path: string): Promise<void> {
  await withFileErrors('removing', path, async () => {
    await rm(path, {force: true});
  });
}

/** Returns the name of the log of a pod of `run` in that directory. */
export function runLogName({name, uid}: {readonly name: string; readonly uid: string}): string {
  return `${RUN_NAMESPACE}_${name}_${uid}.log`;
}

/** Returns the directory of the logs of `run` and `debug`. */
export function runLogDirectory(rootDir: string): string {
  return join(stateDirectory(rootDir), 'run');
}
