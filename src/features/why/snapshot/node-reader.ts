import {stat} from 'node:fs/promises';
import {isSystemCallError, SystemError} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import type {ConnectionContext, EnvironmentContext} from '../../../cli/command/contexts.js';
import {socketPath} from '../../../cri/index.js';
import {collectHolders, type PodWithPorts} from './collect-holders.js';
import {parseBootTime, parseOomKills, readKernelLog} from './kernel-log.js';
import {createRemoteFiles, LOCAL_FILES, type NodeFiles} from './node-files.js';
import type {Holder, OomKill} from './pod-snapshot.js';
import type {WantedHolders} from './wanted-holders.js';

/** Reads facts about the node of the runtime, each once. */
export class NodeReader {
  readonly files: NodeFiles;
  readonly cgroupMount: string;
  readonly #isRemote: boolean;
  #bootedAt: Promise<string | undefined> | undefined;
  #oomKills: Promise<readonly OomKill[]> | undefined;

  constructor({connections, context}: ConnectionContext & EnvironmentContext) {
    const {remote} = connections;
    this.#isRemote = remote !== undefined;
    this.files =
      remote === undefined ? LOCAL_FILES : createRemoteFiles(async () => await remote.node.files());
    this.cgroupMount = context.cgroupMount ?? '/sys/fs/cgroup';
  }

  /** Returns the time of the boot in RFC 3339; undefined if the kernel does not say. Rejects with SystemError. */
  async bootedAt(): Promise<string | undefined> {
    this.#bootedAt ??= this.#readBootTime();
    return await this.#bootedAt;
  }

  /** Returns the processes in containers that the kernel killed for memory. Rejects with SystemError. */
  async oomKills(): Promise<readonly OomKill[]> {
    this.#oomKills ??= this.#readOomKills();
    return await this.#oomKills;
  }

  /** Returns the users of ports and paths. Rejects with SystemError, and with the signal's reason. */
  async holders(
    wanted: WantedHolders,
    others: readonly PodWithPorts[],
    signal: AbortSignal,
  ): Promise<readonly Holder[]> {
    if (this.#isRemote) throw new SystemError('they cannot be read through ssh; run kcri on the node');
    return await collectHolders(wanted, others, signal);
  }

  /** Returns the time at which the runtime made its socket; undefined on another machine. Rejects with SystemError. */
  async runtimeStartedAt(endpoint: string): Promise<string | undefined> {
    if (this.#isRemote) return undefined;
    const path = socketPath(endpoint);
    return await withReason(path, async () => (await stat(path)).mtime.toISOString());
  }

  async #readBootTime(): Promise<string | undefined> {
    const text = await withReason('/proc/stat', async () => await this.files.read('/proc/stat'));
    const bootMs = parseBootTime(text);
    return bootMs === undefined ? undefined : new Date(bootMs).toISOString();
  }

  async #readOomKills(): Promise<readonly OomKill[]> {
    // The server would wait for the next record at the end.
    if (this.#isRemote) throw new SystemError('it cannot be read through ssh; run kcri on the node');
    const bootedAt = await this.bootedAt();
    return await withReason('/dev/kmsg', async () =>
      parseOomKills(readKernelLog(), Date.parse(bootedAt ?? '1970-01-01T00:00:00Z')),
    );
  }
}

/** Rejects with SystemError if a file cannot be read. */
async function withReason<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new SystemError(`${path}: ${systemErrorMessage(error)}`, {cause: error});
  }
}
