import {mkdir, readlink, symlink, unlink} from 'node:fs/promises';
import {join, normalize} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasErrno} from '../../../base/errors.js';
import {
  ifPresent,
  listNames,
  MAX_SEGMENT_LENGTH,
  pathExists,
  withFileErrors,
} from '../../../base/fs/files.js';
import {podLogsDirectoryName, type NodeFacts} from '../../contract/node-facts.js';
import type {CreatedContainer} from '../../contract/pod-filesystem.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';

const SUFFIX = '.log';
const DIRECTORY_MODE = 0o755;
/** Shortest text that can be the ID of a container. */
const MIN_ID_LENGTH = 6;

/** A link whose log does not exist. */
export interface DeadLogLink {
  readonly name: string;
  /** Text in the name where the ID of the container is; undefined if there is none. */
  readonly containerId: string | undefined;
  /** UID in the path of the log. */
  readonly podUid: string;
  /** False if the logs of the whole pod have been removed. */
  readonly hasPodLogs: boolean;
}

/** Returns the links of a node to the logs of its containers; undefined if there shall be none. */
export function openContainerLogLinks({
  containerLogsDir = '',
  podLogsDir,
}: Pick<NodeFacts, 'containerLogsDir' | 'podLogsDir'>): ContainerLogLinks | undefined {
  return containerLogsDir === '' ? undefined : new ContainerLogLinks(containerLogsDir, podLogsDir);
}

/**
 * Links in one directory to the logs of all containers, which log collectors read: `<pod>_<namespace>_<container>-<id>.log`
 * (kuberuntime legacy.go). Other programs may have files there: only links to logs below the pod log directory are removed,
 * and nothing is replaced. Methods reject with SystemError.
 */
export class ContainerLogLinks {
  readonly #directory: string;
  readonly #podLogsDir: string;

  constructor(directory: string, podLogsDir: string) {
    this.#directory = directory;
    this.#podLogsDir = podLogsDir;
  }

  /** Creates the directory, if it does not exist. */
  async makeDirectory(): Promise<void> {
    const path = this.#directory;
    await withFileErrors('creating the directory', path, () =>
      mkdir(path, {recursive: true, mode: DIRECTORY_MODE}),
    );
  }

  /** Links the log of a container that was started, if the runtime has created it. */
  async create(pod: Pod, container: CreatedContainer): Promise<void> {
    const ref = podRef(pod);
    const log = join(this.#podLogsDir, podLogsDirectoryName(ref), container.name, logName(container));
    if (!(await pathExists(log))) return;
    const path = join(this.#directory, containerLogLinkName(ref, container));
    const link = async (): Promise<true> => {
      await symlink(log, path);
      return true;
    };
    await withFileErrors('creating the link', path, async () => {
      try {
        if ((await ifPresent(link)) !== undefined) return;
        await this.makeDirectory();
        await link();
      } catch (error) {
        if (!hasErrno(error, 'EEXIST') || (await readTarget(path)) !== log) throw error;
      }
    });
  }

  /** Removes the link of a container, if it has one. */
  async remove(pod: Pod, container: CreatedContainer): Promise<void> {
    await this.#removeOwn(containerLogLinkName(podRef(pod), container), this.#podLogsDir);
  }

  /** Removes the links to all logs of a pod. */
  async removePod(pod: Pod): Promise<void> {
    const ref = podRef(pod);
    const logs = join(this.#podLogsDir, podLogsDirectoryName(ref));
    const prefix = `${ref.name}_${ref.namespace}_`;
    for (const name of await this.#listNames())
      if (name.startsWith(prefix)) await this.#removeOwn(name, logs);
  }

  /** Returns the links to logs below the pod log directory that do not exist. */
  async listDead(): Promise<readonly DeadLogLink[]> {
    const dead: DeadLogLink[] = [];
    for (const name of await this.#listNames()) {
      const path = join(this.#directory, name);
      const [podLogs] = pathBelow(this.#podLogsDir, await readTarget(path))?.split('/') ?? [];
      if (podLogs === undefined || (await pathExists(path))) continue;
      const podUid = podLogs.split('_').at(-1) ?? '';
      const hasPodLogs = await pathExists(join(this.#podLogsDir, podLogs));
      dead.push({name, containerId: idInName(name), podUid, hasPodLogs});
    }
    return dead;
  }

  /** Removes a link of listDead. */
  async removeDead({name}: DeadLogLink): Promise<void> {
    await this.#removeOwn(name, this.#podLogsDir);
  }

  async #listNames(): Promise<readonly string[]> {
    return (await listNames(this.#directory)).filter((name) => name.endsWith(SUFFIX));
  }

  /** Removes a link to a file below `logs`; leaves everything else. */
  async #removeOwn(name: string, logs: string): Promise<void> {
    const path = join(this.#directory, name);
    if (pathBelow(logs, await readTarget(path)) === undefined) return;
    await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  }
}

/** Returns the name of the link to the log of a container, cut to the length of a file name (legacyLogSymlink). */
export function containerLogLinkName(
  {name, namespace}: Pick<PodRef, 'name' | 'namespace'>,
  container: Pick<CreatedContainer, 'id' | 'name'>,
): string {
  const text = `${name}_${namespace}_${container.name}-${container.id}`;
  return text.slice(0, MAX_SEGMENT_LENGTH - SUFFIX.length) + SUFFIX;
}

/** Returns the part of the target of a link below the directory; undefined if it is elsewhere or not one of kcri's paths. */
function pathBelow(directory: string, target: string | undefined): string | undefined {
  const isBelow = target?.startsWith(`${directory}/`) === true && normalize(target) === target;
  return isBelow ? target.slice(directory.length + 1) : undefined;
}

function logName({restartCount}: CreatedContainer): string {
  return `${restartCount}${SUFFIX}`;
}

/** Returns the ID of the container in the name of a link (getContainerIDFromLegacyLogSymlink). */
function idInName(name: string): string | undefined {
  const id = name.slice(name.lastIndexOf('-') + 1, -SUFFIX.length);
  return id.length < MIN_ID_LENGTH ? undefined : id;
}

/** Returns the target of a symbolic link; undefined if there is none, or something else. */
async function readTarget(path: string): Promise<string | undefined> {
  return await withFileErrors('reading the link', path, async () => {
    try {
      return await readlink(path);
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'EINVAL')) return undefined;
      throw error;
    }
  });
}
