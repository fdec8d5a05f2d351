import {escapeToLine} from '../../../format/escape-controls.js';
import {valueOf} from '../../doctor/fact.js';
import type {FileReader} from '../../doctor/readers/file-reader.js';
import type {UiDisk} from '../protocol.js';

/**
 * Returns the file systems that paths are on, each once, with the first of its paths as its name. The device
 * of the mount that a path leads to, through its links, identifies them: two of the same size are two, and a bind mount is none.
 */
export async function readNodeDisks(
  files: Pick<FileReader, 'mount' | 'space'>,
  paths: readonly string[],
): Promise<readonly UiDisk[]> {
  const found = await Promise.all(
    [...new Set(paths)].map(async (path) => {
      const [mount, space] = await Promise.all([files.mount(path), files.space(path)]);
      // Without a list of mounts it is not known which paths are on one file system.
      return {path, device: valueOf(mount)?.device ?? path, space: valueOf(space)};
    }),
  );
  const byDevice = new Map<string, UiDisk>();
  for (const {path, device, space} of found) {
    if (space === undefined || byDevice.has(device)) continue;
    const {bytes, availableBytes} = space;
    byDevice.set(device, {name: escapeToLine(path), usedBytes: bytes - availableBytes, totalBytes: bytes});
  }
  return [...byDevice.values()];
}
