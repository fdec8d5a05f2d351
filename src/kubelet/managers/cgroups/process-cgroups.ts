import {appendFile, mkdir, readlink} from 'node:fs/promises';
import {hasErrno, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../contract/node-manager.js';
import type {CgroupRoot} from '../../resources/cgroup-root.js';
import {readPids} from './cgroup-processes.js';
import {listHierarchies} from './hierarchies.js';

/** Period in which processes are moved again, in ms (containerManagerImpl Start). */
const PERIOD_MS = 60_000;
/** Attempts to empty the root cgroup: processes start while others are moved (ensureSystemCgroups). */
const ATTEMPTS = 11;

/** Process to move, and the process file system. */
interface ProcessPlace {
  readonly pid?: number;
  readonly procDir?: string;
}

/**
 * Creates the manager that keeps the kubelet's process in the cgroup kubeletCgroups, and those of the root cgroup in systemCgroups;
 * undefined if neither is configured. Its start rejects with SystemError if systemCgroups is the root cgroup.
 */
export function createProcessCgroups(
  {
    processCgroups,
    cgroupMount: mount,
    cgroup: {version},
    rootDir,
  }: Pick<NodeFacts, 'processCgroups' | 'cgroupMount' | 'cgroup' | 'rootDir'>,
  {pid = process.pid, procDir = '/proc'}: ProcessPlace = {},
): NodeManager | undefined {
  const {kubelet = '', system = ''} = processCgroups ?? {};
  if (mount === undefined || (kubelet === '' && system === '')) return undefined;
  const root = {mount, version, rootDir};
  let log: ReturnType<NodeManagerServices['logger']['forFile']> | undefined;
  const ensure = async (containerName: string, move: () => Promise<void>): Promise<void> => {
    if (containerName === '') return;
    try {
      await move();
    } catch (err) {
      rethrowUnexpected(err);
      log?.info('Failed to ensure state', {containerName, err});
    }
  };
  return {
    name: 'process cgroups',
    start: async ({logger}) => {
      log = logger.forFile('process-cgroups.ts');
      if (system === '/')
        throw new SystemError('system container cannot be root ("/")', {
          hint: 'set systemCgroups to a cgroup below the root, such as /system',
        });
      return Promise.resolve();
    },
    reconcile: {
      periodMs: PERIOD_MS,
      run: async () => {
        await ensure(system, async () => moveRootProcesses(root, pathOf(system), procDir));
        await ensure(kubelet, async () => moveKubelet(root, pathOf(kubelet), {pid, procDir}));
      },
    },
  };
}

/** Returns the path of a cgroup from the root of the hierarchies. */
function pathOf(name: string): string {
  return `/${name.replace(/^\/+/, '')}`;
}

/** Moves the process, unless it runs in a container (ensureProcessInContainerWithOOMScore). Rejects with SystemError. */
async function moveKubelet(root: CgroupRoot, path: string, place: Required<ProcessPlace>): Promise<void> {
  const namespaces = await Promise.all(
    [1, place.pid].map(async (pid) => {
      const link = `${place.procDir}/${pid}/ns/pid`;
      return await withFileErrors('reading', link, () => readlink(link));
    }),
  );
  if (namespaces[0] === namespaces[1]) await move(root, path, place.pid);
}

/**
 * Moves all processes of the root cgroup but the first one and those of the kernel (ensureSystemCgroups). Rejects with the last
 * error.
 */
async function moveRootProcesses(root: CgroupRoot, path: string, procDir: string): Promise<void> {
  const [hierarchy] = listHierarchies(root);
  if (hierarchy === undefined) return;
  let lastError: SystemError | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found: number[] = [];
    for (const pid of await readPids(hierarchy.path))
      if (pid !== 1 && !(await isKernelThread(pid, procDir))) found.push(pid);
    if (found.length === 0) return;
    for (const pid of found)
      try {
        await move(root, path, pid);
      } catch (error) {
        rethrowUnexpected(error);
        lastError = new SystemError(
          `failed to move PID ${pid} into the system container "${path}": ${messageOf(error)}`,
          {cause: error},
        );
      }
  }
  if (lastError !== undefined) throw lastError;
}

/** Moves a process to a cgroup of all hierarchies, which is created if it is missing. Rejects with SystemError. */
async function move(root: CgroupRoot, path: string, pid: number): Promise<void> {
  for (const {path: hierarchy, isOptional} of listHierarchies(root)) {
    const directory = hierarchy + path;
    if ((await readPids(directory)).includes(pid)) continue;
    try {
      await withFileErrors('moving a process to the cgroup', directory, async () => {
        await mkdir(directory, {recursive: true, mode: 0o755});
        await appendFile(`${directory}/cgroup.procs`, `${pid}\n`);
      });
    } catch (error) {
      // Hierarchies without limits may be read-only, or empty of CPUs (cpuset).
      if (!isOptional) throw error;
    }
  }
}

/** Reports whether a process is a thread of the kernel, which has no program (isKernelPid); true for one that has ended. */
async function isKernelThread(pid: number, procDir: string): Promise<boolean> {
  try {
    await readlink(`${procDir}/${pid}/exe`);
    return false;
  } catch (error) {
    return hasErrno(error, 'ENOENT');
  }
}
