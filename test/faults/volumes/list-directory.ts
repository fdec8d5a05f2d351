import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/** Returns the paths of what is below the directories of staged volumes of a root directory, other than these directories. */
export function listStagingFiles(rootDir: string): readonly string[] {
  return listBelow(join(rootDir, 'plugins/kubernetes.io/csi')).filter(
    (path) => !/^(?:disk\.example\.com|volumeDevices(?:\/(?:staging|publish))?)$/.test(path),
  );
}

/** Returns the paths below a directory; an unknown one while they change. */
function listBelow(directory: string): readonly string[] {
  try {
    return existsSync(directory) ? readdirSync(directory, {recursive: true, encoding: 'utf8'}) : [];
  } catch {
    return ['?'];
  }
}

/** Returns the names in a directory; none if it does not exist. */
export function listNames(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}
