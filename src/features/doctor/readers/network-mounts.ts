import type {Clock} from '../../../base/clock.js';
import {createDeadline} from '../../../base/async/deadline.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {SystemError} from '../../../base/errors.js';
import {mayHang} from '../../../base/fs/file-system-kinds.js';
import {runAbandonable} from '../../../base/host/run-abandonable.js';
import {mapFact, type Fact} from '../fact.js';
import type {MountFacts, NetworkMountFacts} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Time in which a file system has to answer, in ms. */
const TIMEOUT_MS = 1000;
const MAX_MOUNTS = 20;

/** Options of {@link readNetworkMounts}. */
export interface ReadNetworkMountsOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Program with its arguments before the path; stat(1) by default. */
  readonly command?: readonly string[];
}

/**
 * Asks the file systems that may hang for their state. Each is asked by a process of its own, which can be left behind:
 * a thread that waits for a dead server would keep this process. An automounter is not asked, since it would mount.
 */
export async function readNetworkMounts(
  node: FileReader,
  options: ReadNetworkMountsOptions,
): Promise<Fact<readonly NetworkMountFacts[]>> {
  if ('error' in node.mounts) return node.mounts;
  const mounts = node.mounts.value.filter(({fileSystem}) => mayHang(fileSystem) && fileSystem !== 'autofs');
  const examined = mounts.slice(0, MAX_MOUNTS);
  if (examined.length === 0) return {value: []};
  const remote = await askRemoteMounts(examined, node, options);
  if ('error' in remote) return remote;
  if (remote.value !== undefined) return {value: remote.value};
  const asked = examined.map(async (mount) => await askMount(mount, node, options));
  return {value: await Promise.all(asked)};
}

/** Asks all file systems of a remote node at once; the duration is that of all. Undefined for this machine's. */
async function askRemoteMounts(
  mounts: readonly MountFacts[],
  node: FileReader,
  {clock}: ReadNetworkMountsOptions,
): Promise<Fact<readonly NetworkMountFacts[] | undefined>> {
  return await node.onNode<readonly NetworkMountFacts[] | undefined>(
    () => Promise.resolve(undefined),
    'network file systems',
    async (probe) => {
      const {remoteStats} = await import('./remote-probes.js');
      const start = clock.monotonic();
      const codes = await remoteStats(
        mounts.map(({path}) => path),
        TIMEOUT_MS / 1000,
        probe,
      );
      const ms = Math.round(clock.monotonic() - start);
      return mounts.map(({path, fileSystem, source}, index) => ({
        path,
        fileSystem,
        source,
        ms: mountState(path, codes[index], ms),
      }));
    },
  );
}

function mountState(path: string, exitCode: number | undefined, ms: number): Fact<number> {
  if (exitCode === 0) return {value: ms};
  const reason =
    exitCode === undefined
      ? `no answer within ${TIMEOUT_MS / 1000}s`
      : `stat ended with exit code ${exitCode}`;
  return {error: `${path}: ${reason}`};
}

async function askMount(
  {path, fileSystem, source}: MountFacts,
  node: FileReader,
  {clock, signal, command = ['stat', '-f', '--']}: ReadNetworkMountsOptions,
): Promise<NetworkMountFacts> {
  const start = clock.monotonic();
  const answered = await node.onNode(async () => {
    using deadline = createDeadline(
      clock,
      TIMEOUT_MS,
      () => new SystemError(`no answer within ${TIMEOUT_MS / 1000}s`),
    );
    using either = anySignal(signal, deadline.signal);
    const [program = '', ...args] = command;
    const {exitCode} = await runAbandonable(program, [...args, path], either.signal);
    if (exitCode !== 0) throw new SystemError(`${program} ended with exit code ${exitCode}`);
  }, path);
  return {path, fileSystem, source, ms: mapFact(answered, () => Math.round(clock.monotonic() - start))};
}
