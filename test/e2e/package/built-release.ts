import {execFile} from 'node:child_process';
import {chmod, cp, mkdir, mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchRoot} from '../../../scripts/test-runtimes/debian-suite.mjs';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {runInRoot} from './bare-root.js';

export const run = promisify(execFile);

/** Target of the executables that run on this machine. */
export const TARGET = `linux-${process.arch}`;

/** Reads the version and the manual pages from package.json. */
export async function readManifest(): Promise<{version: string; man: string[]}> {
  return JSON.parse(await readFile('package.json', 'utf8')) as {version: string; man: string[]};
}

/** Returns the arguments of node that build a release of this checkout in an empty directory, with targets and options. */
export function releasing(into: string, ...args: string[]): string[] {
  return ['scripts/release.mjs', '--folder', into, ...args];
}

/** A release of this checkout, in a directory that its disposal removes. */
export class BuiltRelease implements AsyncDisposable {
  /** The directory in which the release is tested. */
  readonly folder: string;
  readonly version: string;

  private constructor(folder: string, version: string) {
    this.folder = folder;
    this.version = version;
  }

  static async build(...args: string[]): Promise<BuiltRelease> {
    const folder = await mkdtemp(join(tmpdir(), 'kcri-install-'));
    await chmod(folder, 0o755);
    const {version} = await readManifest();
    await run(process.execPath, releasing(join(folder, 'release'), ...args));
    return new BuiltRelease(folder, version);
  }

  /** Returns the path of a file of the release. */
  path(name: string): string {
    return join(this.folder, 'release', name);
  }

  /** Creates a root directory of some Debian packages, with the archive for a target unpacked into its /usr/local. */
  async unpack(
    name: string,
    {target, packages, tar}: {target: string; packages: readonly string[]; tar: string[]},
  ) {
    const root = join(this.folder, name);
    await cp(await fetchRoot({suites: ['bullseye', 'bookworm', 'stable'], packages, into: CACHE}), root, {
      recursive: true,
      verbatimSymlinks: true,
    });
    for (const made of ['proc', 'run', 'tmp', 'usr/local']) await mkdir(join(root, made), {recursive: true});
    await cp(this.path(`kcri-${this.version}-${target}.tar.gz`), join(root, 'tmp/kcri.tar.gz'));
    const inside = async (...words: string[]) => await runInRoot(root, words);
    await inside(...tar, '-C', '/usr/local', '-xzf', '/tmp/kcri.tar.gz');
    return {root, inside};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, {recursive: true});
  }
}
