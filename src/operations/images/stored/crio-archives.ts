import {SystemError} from '../../../base/errors.js';
import {fullImageName} from './find-image.js';
import type {ImageRuntime} from './image-runtime.js';
import {findStorageTool, runStorageTool} from './storage-tools.js';

/**
 * Saves images of CRI-O into a file with podman, or a single one with skopeo: both read the storage of CRI-O. Rejects with
 * SystemError if neither is installed, or if it fails.
 */
export async function saveFromStorage(
  runtime: ImageRuntime,
  references: readonly string[],
  path: string,
): Promise<void> {
  const names = references.map(fullImageName);
  const [name = ''] = names;
  const tool = await findStorageTool(
    'image save',
    names.length === 1 ? ['skopeo', 'podman'] : ['podman'],
    runtime,
  );
  const args =
    tool.tool === 'skopeo'
      ? ['copy', '--quiet', `containers-storage:${name}`, `docker-archive:${path}:${name}`]
      : ['save', '--quiet', '--multi-image-archive', '--output', path, ...names];
  await runStorageTool(tool, args, runtime);
}

/** Loads an archive into the storage of CRI-O with podman, and returns the names. Rejects with SystemError. */
export async function loadIntoStorage(runtime: ImageRuntime, path: string): Promise<readonly string[]> {
  const tool = await findStorageTool('image load', ['podman'], runtime);
  const output = await runStorageTool(tool, ['load', '--quiet', '--input', path], runtime);
  const names = output
    .split('\n')
    .flatMap((line) => /^Loaded images?: (.*)$/.exec(line)?.[1]?.split(',') ?? []);
  if (names.length > 0) return names.map((name) => name.trim());
  throw new SystemError(`podman loaded no image from "${path}"`, {
    hint: 'see its output: podman load --input FILE',
  });
}
