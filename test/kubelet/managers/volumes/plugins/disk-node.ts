import {mkdir, realpath, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import type {CsiVolumes} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {runDiskTool, type RunTool} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {systemMounter} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import type {DiskRoots} from '../../../../../src/kubelet/managers/volumes/plugins/disks/disk-roots.js';
import type {VolumeHost} from '../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {attachLoopDisk} from '../../../../base/loop-disk.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

/** Result of a call of a faked program: an exit code, or its output. */
export type Answer = number | string;

/** A node whose disks of the storage are loop devices, with directories in place of those of /dev/disk and /sys. */
export interface DiskNode {
  readonly host: VolumeHost;
  readonly roots: DiskRoots;
  readonly rootDir: string;
  /** Path of the disk in /dev. */
  readonly device: string;
  /** Calls of faked programs, and values that were written to sysfs as `value >path`. */
  readonly calls: string[];
  /** Removes a pod with its volumes; `csi` is the part of a cluster. */
  remove(uid: string, csi?: CsiVolumes): Promise<void>;
  /** Returns what is mounted below the root directory. */
  mounts(): Promise<readonly string[]>;
  link(path: string, target: string): Promise<void>;
  /** Removes a link of the node. */
  unlink(path: string): Promise<void>;
  /** Writes a file of sysfs. */
  sysfs(path: string, value: string): Promise<void>;
}

/**
 * Creates a node with an unformatted disk. `answer` stands for programs other than those of local disks; undefined stands for
 * success.
 */
export async function aDiskNode(
  spec: PersistentVolumeSpec,
  answer: (node: DiskNode, program: string, args: readonly string[]) => Promise<Answer | undefined>,
): Promise<DiskNode> {
  const disk = await attachLoopDisk(32);
  onTestFinished(async () => {
    await disk[Symbol.asyncDispose]();
  });
  const facts = await aNode();
  await mkdir(facts.rootDir, {recursive: true});
  const rootDir = await realpath(facts.rootDir);
  const base = await realpath(await temporaryDirectory());
  const roots = {links: join(base, 'disk'), sys: join(base, 'sys')};
  const calls: string[] = [];
  const runTool: RunTool = async (program, args, options) => {
    if (program === 'sh') calls.push(`${args[3]} >${args[4]?.slice(roots.sys.length + 1)}`);
    if (!FAKED.has(program)) return await runDiskTool(program, args, options);
    calls.push([program, ...args].join(' '));
    const answered = (await answer(node, program, args)) ?? '';
    if (answered === MISSING) return {exitCode: undefined, output: ''};
    return typeof answered === 'number'
      ? {exitCode: answered, output: `${program}: failed with ${args.at(-1)}`}
      : {exitCode: 0, output: answered};
  };
  const host = {...aHost({...facts, rootDir}, claims(spec)), runTool, roots};
  const put = async (path: string, act: (path: string) => Promise<void>): Promise<void> => {
    await mkdir(dirname(path), {recursive: true});
    await act(path);
  };
  const node: DiskNode = {
    ...{host, roots, rootDir, device: disk.device, calls},
    remove: async (uid, csi) => {
      await removePodDir(host.node, uid, {runTool, roots, csi});
    },
    mounts: async () =>
      (await systemMounter.list())
        .filter(({path}) => path.startsWith(`${rootDir}/`))
        .map(({path}) => path.slice(rootDir.length + 1)),
    link: async (path, target) => {
      await put(join(roots.links, path), async (at) => {
        await rm(at, {force: true});
        await symlink(target, at);
      });
    },
    unlink: async (path) => {
      await rm(join(roots.links, path), {force: true});
    },
    sysfs: async (path, value) => {
      await put(join(roots.sys, path), async (at) => {
        await writeFile(at, value);
      });
    },
  };
  return node;
}

/** Answer of a program that is not installed. */
export const MISSING = -1;

const FAKED: ReadonlySet<string> = new Set(['iscsiadm', 'multipath', 'blockdev']);
