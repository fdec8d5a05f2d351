import {execFile} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {appendFile, mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {parseMountInfo} from '../../../src/base/fs/mount-info.js';
import {GrpcStatusError} from '../../fakes/runtime/grpc-status-error.js';
import {DEVICE, FILES} from './volume-manifests.js';

const run = promisify(execFile);

/** Name of the file in each volume, and in each directory of one that is mounted alone, by which it is recognized. */
export const MARK = '.volume';

/** Returns the paths below a directory at which something is mounted, later ones last. */
export function mountsBelow(directory: string): readonly string[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'))
    .map(({path}) => path)
    .filter((path) => path.startsWith(`${directory}/`));
}

function isMounted(path: string): boolean {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).some((mount) => mount.path === path);
}

/** What a CSI driver does on the node: volumes that are bind mounts of directories, and of a device. It outlives its driver. */
export class VolumeBackend {
  readonly #directory: string;
  readonly #device: string;
  /** Paths at which volumes are staged. */
  readonly #staged = new Map<string, string>();
  /** Volumes that are published, by path. */
  readonly #published = new Map<string, string>();
  readonly #violations: (text: string) => void;

  /** `directory` gets the volumes; `device` is the block device of the other volume. */
  constructor(directory: string, device: string, violations: (text: string) => void) {
    this.#directory = directory;
    this.#device = device;
    this.#violations = violations;
  }

  async create(): Promise<void> {
    await mkdir(this.#files('part'), {recursive: true});
    await writeFile(this.#files(MARK), FILES);
    await writeFile(this.#files('part', MARK), FILES);
  }

  /** Text that containers have written into the volume with files. */
  get written(): string {
    const path = this.#files('log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** What the driver still has to unmount, and inline volumes that are left. */
  get left(): readonly string[] {
    const inline = [...new Set(this.#published.values())].filter((id) => existsSync(this.#inline(id)));
    return [
      ...[...this.#staged].map(([id, path]) => `${id} is staged at ${path}`),
      ...[...this.#published].map(([path, id]) => `${id} is published at ${path}`),
      ...inline.map((id) => `${id} exists`),
    ];
  }

  /** Forgets all mounts, as after a reboot of the node. */
  reboot(): void {
    this.#staged.clear();
    this.#published.clear();
  }

  async stage(id: string, path: string, isBlock: boolean): Promise<void> {
    const at = this.#staged.get(id);
    if (at !== undefined && at !== path) this.#violations(`${id} is staged at ${path}, but also at ${at}`);
    if (!existsSync(path)) throw new GrpcStatusError('INTERNAL', `${path} does not exist`);
    if (!isBlock && !isMounted(path)) await run('mount', ['--bind', this.#files(), path]);
    this.#staged.set(id, path);
  }

  async unstage(id: string, path: string): Promise<void> {
    for (const [target, published] of this.#published)
      if (published === id) this.#violations(`${id} is unstaged while it is published at ${target}`);
    if (isMounted(path)) await run('umount', [path]);
    this.#staged.delete(id);
  }

  async publish(id: string, target: string, staging: string, isBlock: boolean): Promise<void> {
    if (staging !== '' && this.#staged.get(id) !== staging) {
      this.#violations(`${id} is published at ${target}, but not staged at ${staging}`);
      throw new GrpcStatusError('FAILED_PRECONDITION', 'not staged');
    }
    if (isBlock) await appendFile(target, '');
    else await mkdir(target, {recursive: true});
    if (!isMounted(target)) await run('mount', ['--bind', await this.#source(id, staging, isBlock), target]);
    this.#published.set(target, id);
  }

  async unpublish(id: string, target: string): Promise<void> {
    if (isMounted(target)) await run('umount', [target]);
    await rm(target, {force: true, recursive: true});
    this.#published.delete(target);
    if (id !== FILES && id !== DEVICE) await rm(this.#inline(id), {recursive: true, force: true});
  }

  async #source(id: string, staging: string, isBlock: boolean): Promise<string> {
    if (isBlock) return this.#device;
    if (staging !== '') return staging;
    await mkdir(this.#inline(id), {recursive: true});
    await writeFile(join(this.#inline(id), MARK), 'inline');
    return this.#inline(id);
  }

  #files(...names: readonly string[]): string {
    return join(this.#directory, 'files', ...names);
  }

  #inline(id: string): string {
    return join(this.#directory, 'inline', id);
  }
}
