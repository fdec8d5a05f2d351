import {existsSync, mkdirSync, readdirSync, rmdirSync, symlinkSync} from 'node:fs';
import {basename, join} from 'node:path';
import {hasErrno} from '../../../src/base/errors.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

const MOUNT = '/sys/fs/cgroup';
/** Hierarchies of cgroup v1 that a play has: one whose limits are written, and one more. */
const V1_HIERARCHIES = ['cpu', 'pids'];

/** The cgroups of the pods of a play, below cgroups of its own: plays run at the same time. */
export class PlayCgroups {
  /** Facts of a node with these cgroups. */
  readonly facts: Pick<NodeFacts, 'cgroup' | 'cgroupMount'>;
  /** Cgroups that stand for the root cgroups of the node. */
  readonly #roots: readonly string[];

  /** Creates the cgroups. `directory` is that of the play, whose name they get. */
  constructor(directory: string) {
    const version = existsSync(join(MOUNT, 'cgroup.controllers')) ? 2 : 1;
    const parents = version === 2 ? [MOUNT] : V1_HIERARCHIES.map((name) => join(MOUNT, name));
    this.#roots = parents.map((parent) => join(parent, basename(directory)));
    for (const root of this.#roots) mkdirSync(root);
    const mount = join(directory, 'cgroup');
    if (version === 1) mkdirSync(mount);
    for (const [index, root] of this.#roots.entries())
      symlinkSync(root, version === 1 ? join(mount, V1_HIERARCHIES[index] ?? '') : mount);
    this.facts = {cgroup: {...GOLDEN_NODE.cgroup, version}, cgroupMount: mount};
  }

  /** Paths of the cgroups of pods. */
  get ofPods(): readonly string[] {
    return this.all.filter((path) => basename(path).startsWith('pod'));
  }

  /** Paths of all cgroups below the roots, each after those below it. */
  get all(): readonly string[] {
    return this.#roots.flatMap((root) => cgroupsBelow(root));
  }

  /** Removes the cgroups below the roots, as a reboot does. */
  clear(): void {
    for (const path of this.all) removeCgroup(path);
  }

  remove(): void {
    this.clear();
    for (const root of this.#roots) removeCgroup(root);
  }
}

function cgroupsBelow(path: string): readonly string[] {
  const names = existsSync(path) ? readdirSync(path, {withFileTypes: true}) : [];
  return names
    .filter((entry) => entry.isDirectory())
    .map(({name}) => join(path, name))
    .flatMap((child) => [...cgroupsBelow(child), child]);
}

function removeCgroup(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}
