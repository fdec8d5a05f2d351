import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {appendFile, mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {parseMountInfo} from '../../../src/base/fs/mount-info.js';
import {GrpcStatusError} from '../../fakes/runtime/grpc-status-error.js';
import type {MountShell} from './mount-shell.js';
import {DEVICE, FILES, SMALL} from './volume-manifests.js';

/** Name of the file in each volume, and in each directory of one that is mounted alone, by which it is recognized. */
export const MARK = '.volume';

/** Returns the paths below a directory at which something is mounted, later ones last. */
export function mountsBelow(directory: string): readonly string[] {
  return mountPointsWith(`${directory}/`).filter((path) => path.startsWith(`${directory}/`));
}

function isMounted(path: string): boolean {
  return mountPointsWith(path).includes(path);
}

/** Returns the mount points in lines with a text; those of other plays need not be parsed. */
function mountPointsWith(text: string): readonly string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const found = lines.filter((line) => line.includes(text));
  return parseMountInfo(found.join('\n')).map(({path}) => path);
}

/** Options of {@link VolumeBackend}. */
export interface VolumeBackendOptions {
  /** Gets the volumes. */
  readonly directory: string;
  /** The block device of the other volume. */
  readonly device: string;
  /** Mounts and unmounts. */
  readonly shell: MountShell;
  readonly violations: (text: string) => void;
}

/** What a CSI driver does on the node: volumes that are bind mounts of directories, and of a device. It outlives its driver. */
export class VolumeBackend {
  readonly #directory: string;
  readonly #device: string;
  /** Paths at which volumes are staged. */
  readonly #staged = new Map<string, string>();
  /** Volumes that are published, by path. */
  readonly #published = new Map<string, string>();
  /** Volumes that were enlarged, with their sizes for the controller and on the node. */
  readonly #sizes = new Map<string, {controller: number; node: number}>();
  readonly #violations: (text: string) => void;
  readonly #shell: MountShell;

  constructor({directory, device, shell, violations}: VolumeBackendOptions) {
    this.#directory = directory;
    this.#device = device;
    this.#violations = violations;
    this.#shell = shell;
  }

  async create(): Promise<void> {
    await mkdir(this.#files('part'), {recursive: true});
    await writeFile(this.#files(MARK), FILES);
    await writeFile(this.#files('part', MARK), FILES);
  }

  /** Text that containers have written into the volume with files, and into each that was made for a claim. */
  get written(): readonly string[] {
    const logs = [this.#files('log'), ...this.made.map((id) => join(this.#source(id), 'log'))];
    return logs.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  }

  /** IDs of the volumes that were made and not deleted. */
  get made(): readonly string[] {
    const directory = join(this.#directory, 'made');
    return existsSync(directory) ? readdirSync(directory) : [];
  }

  /** What the driver still has to unmount, and inline volumes that are left. */
  get left(): readonly string[] {
    const inline = [...new Set(this.#published.values())].filter((id) => existsSync(this.#inline(id)));
    return [
      ...[...this.#staged].map(([id, path]) => `${id} is staged at ${path}`),
      ...[...this.#published].map(([path, id]) => `${id} is published at ${path}`),
      ...inline.map((id) => `${id} exists`),
      ...this.made.map((id) => `${id} was not deleted`),
    ];
  }

  /** Forgets all mounts, as after a reboot of the node. */
  reboot(): void {
    this.#staged.clear();
    this.#published.clear();
  }

  async make(name: string): Promise<string> {
    const id = madeId(name);
    await mkdir(this.#source(id), {recursive: true});
    await writeFile(join(this.#source(id), MARK), id);
    return id;
  }

  async delete(id: string): Promise<void> {
    if (this.#staged.has(id) || [...this.#published.values()].includes(id))
      this.#violations(`${id} is deleted while it is used`);
    await rm(this.#source(id), {recursive: true, force: true});
  }

  /** Reports whether a volume has this size, in bytes, on the node. */
  hasVolumeOf(bytes: number): boolean {
    return [...this.#sizes.values()].some(({node}) => node === bytes);
  }

  /** Enlarges a volume for the controller. */
  grow(id: string, bytes: number): void {
    const {controller, node} = this.#sizes.get(id) ?? {controller: SMALL, node: SMALL};
    if (bytes < controller) this.#violations(`${id} is to have ${bytes} bytes, but has ${controller}`);
    this.#sizes.set(id, {controller: Math.max(controller, bytes), node});
  }

  /** Enlarges a volume on the node, after the controller. */
  expand(id: string, path: string, bytes: number): void {
    const size = this.#sizes.get(id);
    if (this.#published.get(path) !== id)
      this.#violations(`${id} is enlarged at ${path}, but not published there`);
    if (size === undefined || size.controller < bytes)
      this.#violations(`${id} is enlarged on the node, but not by the controller`);
    else size.node = bytes;
  }

  async stage(id: string, path: string, isBlock: boolean): Promise<void> {
    const at = this.#staged.get(id);
    if (at !== undefined && at !== path) this.#violations(`${id} is staged at ${path}, but also at ${at}`);
    if (!existsSync(path)) throw new GrpcStatusError('INTERNAL', `${path} does not exist`);
    if (!isBlock && !isMounted(path)) await this.#shell.run('mount', '--bind', this.#source(id), path);
    this.#staged.set(id, path);
  }

  async unstage(id: string, path: string): Promise<void> {
    for (const [target, published] of this.#published)
      if (published === id) this.#violations(`${id} is unstaged while it is published at ${target}`);
    if (isMounted(path)) await this.#shell.run('umount', path);
    this.#staged.delete(id);
  }

  async publish(id: string, target: string, staging: string, isBlock: boolean): Promise<void> {
    if (staging !== '' && this.#staged.get(id) !== staging) {
      this.#violations(`${id} is published at ${target}, but not staged at ${staging}`);
      throw new GrpcStatusError('FAILED_PRECONDITION', 'not staged');
    }
    if (isBlock) await appendFile(target, '');
    else await mkdir(target, {recursive: true});
    if (!isMounted(target))
      await this.#shell.run('mount', '--bind', await this.#sourceOf(id, staging, isBlock), target);
    this.#published.set(target, id);
  }

  async unpublish(id: string, target: string): Promise<void> {
    if (isMounted(target)) await this.#shell.run('umount', target);
    await rm(target, {force: true, recursive: true});
    this.#published.delete(target);
    if (!isPersistent(id)) await rm(this.#inline(id), {recursive: true, force: true});
  }

  async #sourceOf(id: string, staging: string, isBlock: boolean): Promise<string> {
    if (isBlock) return this.#device;
    if (staging !== '') return staging;
    await mkdir(this.#inline(id), {recursive: true});
    await writeFile(join(this.#inline(id), MARK), 'inline');
    return this.#inline(id);
  }

  #files(...names: readonly string[]): string {
    return join(this.#directory, 'files', ...names);
  }

  /** Returns the directory of a PersistentVolume with files. */
  #source(id: string): string {
    return id === FILES ? this.#files() : join(this.#directory, 'made', id);
  }

  #inline(id: string): string {
    return join(this.#directory, 'inline', id);
  }
}

/** Returns the ID of a volume that is made under a name. */
export function madeId(name: string): string {
  return `made-${name}`;
}

function isPersistent(id: string): boolean {
  return id === FILES || id === DEVICE || id.startsWith('made-');
}
