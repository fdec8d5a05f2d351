import type {Pod} from '../../../api/types/v1-pod.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {isSystemCallError} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {containerId, type RuntimeService} from '../../../cri/index.js';
import {inspectContainer} from '../../../operations/inspect/inspect-objects.js';
import {runningPid} from '../../../operations/files/container-process.js';
import type {Unread} from '../finding.js';
import type {NodeFiles} from './node-files.js';
import type {NodeReader} from './node-reader.js';
import {cgroupFilesOf, parseCpu, parseMemory} from './parse-cgroup.js';
import {parseListeningPorts, parseProcessStatus, parseStack} from './parse-process.js';
import type {ContainerFacts} from './pod-snapshot.js';

/** Number of containers read at once. */
const AT_ONCE = 8;

/** Runtime and node of the containers. */
export interface RunningSources {
  readonly connect: () => Promise<{readonly runtime: RuntimeService}>;
  readonly node: NodeReader;
  readonly signal: AbortSignal;
}

/**
 * Reads processes, cgroups and listening ports of the running containers of a pod. Files that cannot be read are added to
 * `unread`. Rejects with CriError.
 */
export async function collectRunning(
  {connect, node, signal}: RunningSources,
  {status = {}}: Pod,
  unread: Unread[],
): Promise<Readonly<Record<string, ContainerFacts>>> {
  const {initContainerStatuses = [], containerStatuses = []} = status;
  const running = [...initContainerStatuses, ...containerStatuses].filter(
    ({state, containerID = ''}) => state?.running !== undefined && containerID !== '',
  );
  if (running.length === 0) return {};
  const {runtime} = await connect();
  const found: Record<string, ContainerFacts> = {};
  await forEachLimit(running, AT_ONCE, async ({name, containerID = ''}) => {
    const id = containerId(containerID.replace(/^.*:\/\//, ''));
    const pid = runningPid(await inspectContainer(runtime, id, {verbose: true, signal}));
    if (pid === undefined) return;
    const reader = new ProcessReader(node, pid, (what, error) => {
      unread.push({what: `${what} of container ${name}`, reason: systemErrorMessage(error)});
    });
    found[name] = await reader.read();
  });
  return found;
}

/** Reads the facts about a container's main process. */
class ProcessReader {
  readonly #node: NodeReader;
  readonly #pid: number;
  readonly #onUnread: (what: string, error: unknown) => void;

  constructor(node: NodeReader, pid: number, onUnread: (what: string, error: unknown) => void) {
    this.#node = node;
    this.#pid = pid;
    this.#onUnread = onUnread;
  }

  async read(): Promise<ContainerFacts> {
    const [process, listening, cgroup] = await Promise.all([
      this.#try('process', () => this.#process()),
      this.#try('listening ports', () => this.#ports()),
      this.#try('cgroup', () => this.#cgroup()),
    ]);
    return {...(process && {process}), ...(listening && {listening}), ...cgroup};
  }

  async #process(): Promise<ContainerFacts['process']> {
    const status = await this.#proc('status');
    // Only root may see where the process of another user sleeps.
    const wchan = await this.#orEmpty(this.#proc('wchan'));
    const facts = parseProcessStatus(this.#pid, status, wchan);
    if (facts.state !== 'D') return facts;
    const stack = parseStack(await this.#orEmpty(this.#proc('stack')));
    return {...facts, ...(stack.length > 0 && {stack})};
  }

  async #ports(): Promise<readonly number[]> {
    // A kernel without IPv6 has no tcp6.
    return parseListeningPorts(await this.#proc('net/tcp'), await this.#orEmpty(this.#proc('net/tcp6')));
  }

  async #cgroup(): Promise<Pick<ContainerFacts, 'memory' | 'cpu'>> {
    const files = cgroupFilesOf(this.#node.cgroupMount, await this.#proc('cgroup'));
    if (files === undefined) return {};
    const read = async (path: string): Promise<string> => await this.#files.read(path);
    const [memoryLimit, memoryUsage, memoryStat] = await Promise.all(
      [files.memoryLimit, files.memoryUsage, files.memoryStat].map(read),
    );
    // The peak is known since Linux 5.19 with cgroup v2.
    const peak = await this.#orEmpty(read(files.memoryPeak));
    const texts = {
      memoryLimit: memoryLimit ?? '',
      memoryUsage: memoryUsage ?? '',
      memoryStat: memoryStat ?? '',
    };
    const memory = parseMemory(texts, files.inactiveFile, peak);
    const cpu = parseCpu(await read(files.cpuStat));
    return {...(memory && {memory}), ...(cpu && {cpu})};
  }

  get #files(): NodeFiles {
    return this.#node.files;
  }

  async #proc(name: string): Promise<string> {
    return await this.#files.read(`/proc/${this.#pid}/${name}`);
  }

  async #orEmpty(text: Promise<string>): Promise<string> {
    return await text.catch((error: unknown) => {
      if (!isSystemCallError(error)) throw error;
      return '';
    });
  }

  async #try<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      // The process may have ended, or belong to another user.
      if (!isSystemCallError(error)) throw error;
      this.#onUnread(what, error);
      return undefined;
    }
  }
}
