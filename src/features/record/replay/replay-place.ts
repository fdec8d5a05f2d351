import {chmod, mkdir, mkdtemp, readdir, rmdir, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {withFileErrors} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';
import {stringAt} from '../../../base/string-at.js';
import type {RecordedCall} from '../../../recording/replay/recorded-calls.js';
import {containedPath, type ReplayPath} from '../../../recording/replay/replay-paths.js';

/** Makes a directory for the mounts and logs of a replay, in which runtimes can look up paths. Rejects with SystemError. */
export async function makeReplayDirectory(): Promise<string> {
  return await withFileErrors('creating a directory in', tmpdir(), async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-replay-'));
    await chmod(directory, 0o711);
    return directory;
  });
}

/** Makes what is mounted, empty and writable for every user, and the directories of logs. Rejects with SystemError. */
export async function makeReplayPaths(paths: readonly ReplayPath[]): Promise<void> {
  for (const {path, isFile, kind, recorded} of paths)
    await withFileErrors('creating', path, async () => {
      if (isFile || (kind === 'mount' && (await isFileHere(recorded)))) {
        await writeFile(path, '');
        await chmod(path, 0o666);
      } else {
        await mkdir(path);
        await chmod(path, kind === 'logs' ? 0o755 : 0o777);
      }
    });
}

/** Reports whether a mounted path of the recorded node is something other than a directory on this machine. */
async function isFileHere(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

/** Makes the directories of containers' logs, as a kubelet does. `logs` returns the path of a log directory. */
export async function makeLogDirectories(
  calls: readonly RecordedCall[],
  logs: (recorded: string) => string,
): Promise<void> {
  for (const {request} of calls) {
    const directory = stringAt(request, 'sandboxConfig', 'logDirectory') ?? '';
    const path = stringAt(request, 'config', 'logPath') ?? '';
    if (directory !== '' && path !== '')
      await mkdir(join(logs(directory), dirname(containedPath(path))), {recursive: true});
  }
}

/** Removes the directory of a replay. Rejects with SystemError. */
export async function removeReplayDirectory(directory: string): Promise<void> {
  await removeTree(directory);
}

/**
 * Removes a directory of cgroups, which has no processes any more, from all hierarchies below their mount point. Rejects with
 * SystemError.
 */
export async function removeCgroups(mount: string, name: string): Promise<void> {
  const hierarchies = await readdir(mount, {withFileTypes: true}).catch(() => []);
  const roots = hierarchies.filter((each) => each.isDirectory()).map((each) => join(mount, each.name));
  for (const root of [mount, ...roots])
    await withFileErrors('removing', join(root, name), () => removeCgroup(join(root, name)));
}

async function removeCgroup(path: string): Promise<void> {
  const entries = await readdir(path, {withFileTypes: true}).catch(() => undefined);
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeCgroup(join(path, entry.name));
  await rmdir(path);
}
