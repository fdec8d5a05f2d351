import type {DirectoryToMake} from './files.js';

/**
 * Returns `<rootDir>/kcri`, the directory of everything that kcri stores in a root directory and a kubelet does not: a
 * kubelet that uses the root directory too finds only files that it knows beside it.
 */
export function stateDirectory(rootDir: string): string {
  return `${rootDir}/kcri`;
}

/** Returns the root directory, the state directory and a directory in it that only root can read, for makeDirectories. */
export function stateDirectoriesTo(rootDir: string, directory: string): readonly DirectoryToMake[] {
  return [
    {path: rootDir, mode: 0o750},
    {path: stateDirectory(rootDir), mode: 0o750},
    {path: directory, mode: 0o700},
  ];
}
