import {mkdir, open} from 'node:fs/promises';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {O_PATH} from '../../../src/base/fs/file-handles.js';
import {copyFiles, type CopyDestination, type CopySource} from '../../../src/operations/files/copy-files.js';
import {
  createContainerView,
  openLocalView,
  type FileSystemView,
} from '../../../src/operations/files/file-system-view.js';
import {SAME_OWNERS, type OwnerMap} from '../../../src/operations/files/id-map.js';
import type {CopyPath} from '../../../src/operations/files/open-copy-paths.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** A directory that serves as the root of a container, and one of the host. */
export interface CopyTestbed {
  readonly root: string;
  readonly host: string;
  readonly view: FileSystemView;
  readonly skipped: string[];
  readonly warnings: string[];
  /** Returns a path in the container. */
  readonly inside: (path: string) => CopyPath;
  /** Returns a path below the directory of the host. */
  readonly outside: (path: string) => CopyPath;
  readonly copy: (
    source: CopySource,
    destination: CopyDestination,
    options?: CopyTestOptions,
  ) => Promise<void>;
}

/** Options of a copy that differ from the defaults of the command. */
export interface CopyTestOptions {
  readonly followsLink?: boolean;
  readonly preserves?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (files: number, bytes: number) => void;
}

/** Creates the directories for the duration of the test. */
export async function createCopyTestbed(owners: OwnerMap = SAME_OWNERS): Promise<CopyTestbed> {
  const directory = await temporaryDirectory();
  const [root, host] = [join(directory, 'root'), join(directory, 'host')];
  await mkdir(root);
  await mkdir(host);
  const view = createContainerView(await open(root, O_PATH), {owners, title: 'web'});
  const local = await openLocalView();
  onTestFinished(async () => {
    await view[Symbol.asyncDispose]();
    await local[Symbol.asyncDispose]();
  });
  const skipped: string[] = [];
  const warnings: string[] = [];
  return {
    root,
    host,
    view,
    skipped,
    warnings,
    inside: (path) => ({kind: 'path', view, path}),
    outside: (path) => ({kind: 'path', view: local, path: `${host}/${path}`}),
    copy: async (source, destination, options = {}) => {
      await copyFiles(source, destination, {
        followsLink: false,
        preserves: true,
        onSkip: (path, reason) => skipped.push(`${path}: ${reason}`),
        onWarning: (text) => warnings.push(text),
        onProgress: () => undefined,
        signal: new AbortController().signal,
        ...options,
      });
    },
  };
}
