import {setMaxListeners} from 'node:events';
import {abortable} from '../../base/async/abortable.js';
import {createDeadline} from '../../base/async/deadline.js';
import {anySignal} from '../../base/async/any-signal.js';
import {SystemError} from '../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {parseBootTime, parseKernelLog, readKernelLog} from '../why/snapshot/kernel-log.js';
import {mapFact, readFact, valueOf} from './fact.js';
import type {NetworkFacts, NodeSnapshot, RuntimeFacts} from './node-snapshot.js';
import {
  readCni,
  readDisks,
  readFiles,
  kernelProblems,
  readPodDirs,
  readPodLogs,
  readPrograms,
} from './readers/files.js';
import {readKernel} from './readers/kernel.js';
import {readKubelet} from './readers/kubelet.js';
import type {FileReader} from './readers/file-reader.js';
import {readNetworkMounts} from './readers/network-mounts.js';
import {askNameServers, readAddresses, readInterfaces} from './readers/network.js';
import {openFileReader} from './readers/open-file-reader.js';
import {readPodCgroups} from './readers/pod-cgroups.js';
import {readPodTokens} from './readers/pod-tokens.js';
import {readProcesses} from './readers/processes.js';
import {DISKS, readRunHistory} from './readers/run-history.js';
import {readRuntime} from './readers/runtime.js';

/** Time after which what does not answer counts as unreadable, in ms; of a remote node after it is connected to. */
const TIMEOUT_MS = 2000;
const REMOTE_TIMEOUT_MS = 10_000;
/** Time in which only the runtime is asked, in ms. */
const HEAD_START_MS = 200;
const POD_LOGS = '/var/log/pods';
/** Directories of runtimes that do not report theirs. */
const DEFAULT_ROOTS: Readonly<Record<string, string>> = {'cri-o': '/var/lib/containers/storage'};

/**
 * Reads everything that the checks examine, at once and within two seconds, or ten of a remote node. Changes nothing. Rejects
 * with the signal's reason, and with RemoteError for a remote node that cannot be connected to.
 */
export async function collectSnapshot(services: RuntimeContext): Promise<NodeSnapshot> {
  const {context, connections, settings} = services;
  if ((await settings.remoteEndpoint()) !== undefined) await connections.default();
  const timeoutMs = connections.remote === undefined ? TIMEOUT_MS : REMOTE_TIMEOUT_MS;
  using deadline = createDeadline(
    context.clock,
    timeoutMs,
    () => new SystemError(`no answer within ${timeoutMs / 1000}s`),
  );
  using either = anySignal(services.signal, deadline.signal);
  const {signal} = either;
  // All reads listen to it.
  setMaxListeners(0, signal);
  const node = await openFileReader(services, signal);
  const {clock} = context;
  const runtime = readOfRuntime(services, node, signal);
  // Other reads would make the calls look slow; a runtime that hangs does not delay them for long.
  using headStart = createDeadline(clock, HEAD_START_MS, () => new SystemError('the others start'));
  await readFact(async () => await abortable(runtime, headStart.signal));
  const processes = await node.fact(async () => await readProcesses(node), '/proc');
  const isRemote = connections.remote !== undefined;
  const [
    {addresses, ...ofRuntime},
    kubelet,
    ofKernel,
    ofPods,
    networkMounts,
    interfaces,
    nameServers,
    diskHistory,
  ] = await Promise.all([
    runtime,
    readKubelet(services, node, {processes: mapFact(processes, ({kubelets}) => kubelets), signal}),
    readOfKernel(node),
    readOfPods(services, node),
    readNetworkMounts(node, {clock, signal}),
    readInterfaces(node),
    askNameServers(node, {clock, signal}),
    readRunHistory(DISKS, settings.rootDir, {node, isRemote}),
  ]);
  services.signal.throwIfAborted();
  return {
    takenAt: new Date(context.clock.now()).toISOString(),
    isRoot: await isRoot(node, isRemote),
    ...ofRuntime,
    ...ofKernel,
    ...ofPods,
    kubelet,
    network: {addresses, interfaces, nameServers},
    networkMounts,
    diskHistory,
    mounts: node.mounts,
    processes: mapFact(processes, ({timeKeepers, firewalls, shims}) => ({timeKeepers, firewalls, shims})),
  };
}

/** Reports whether the reader has the rights of root. */
async function isRoot(node: FileReader, isRemote: boolean): Promise<boolean> {
  if (!isRemote) return process.geteuid?.() === 0;
  // The process that reads the file is the server of the node's files.
  return /^Uid:\s+\d+\s+0\s/m.test(valueOf(await node.text('/proc/self/status')) ?? '');
}

/** Reads the kernel and the system. */
async function readOfKernel(
  node: FileReader,
): Promise<Pick<NodeSnapshot, 'files' | 'kernel' | 'programs' | 'kernelLog'>> {
  const [files, kernel, programs, kernelLog] = await Promise.all([
    readFiles(node),
    readKernel(node),
    readPrograms(node),
    readKernelLogOf(node),
  ]);
  return {files, kernel, programs, kernelLog};
}

async function readKernelLogOf(node: FileReader): Promise<NodeSnapshot['kernelLog']> {
  const bootedAtMs = parseBootTime(valueOf(await node.text('/proc/stat')) ?? '') ?? 0;
  return await node.onNode(
    async () => await Promise.resolve(kernelProblems(readKernelLog(), bootedAtMs)),
    '/dev/kmsg',
    async (probe) => {
      const {remoteKernelLog} = await import('./readers/remote-probes.js');
      return kernelProblems(parseKernelLog(await remoteKernelLog(probe)), bootedAtMs);
    },
  );
}

/** Reads what pods have on the node. */
async function readOfPods(
  {context, settings}: RuntimeContext,
  node: FileReader,
): Promise<Pick<NodeSnapshot, 'podDirs' | 'podLogs' | 'podCgroups' | 'podTokens'>> {
  const rootDirs = [...new Set([settings.rootDir, KUBELET_ROOT_DIR])];
  const [podDirs, podLogs, podCgroups, podTokens] = await Promise.all([
    Promise.all(rootDirs.map(async (rootDir) => await readPodDirs(rootDir, node))),
    readPodLogs(POD_LOGS, node),
    readPodCgroups(context.cgroupMount ?? '/sys/fs/cgroup', node),
    readPodTokens(rootDirs, node),
  ]);
  return {podDirs, podLogs, podCgroups, podTokens};
}

/** Reads the runtime, and then what lies in the directories that it names. */
async function readOfRuntime(
  services: RuntimeContext,
  node: FileReader,
  signal: AbortSignal,
): Promise<Pick<NodeSnapshot, 'runtime' | 'cni' | 'disks'> & Pick<NetworkFacts, 'addresses'>> {
  const runtime = await readRuntime(services, node, signal);
  const [cni, disks] = await Promise.all([
    readCni(runtime.config, node),
    readDisks(placesOf(runtime, services.settings.rootDir), node),
  ]);
  return {runtime, cni, disks, addresses: await readAddresses(cni, node)};
}

function placesOf(
  {config, version}: RuntimeFacts,
  kcriRootDir: string,
): readonly {readonly use: string; readonly path: string}[] {
  const rootDir = valueOf(config)?.rootDir ?? DEFAULT_ROOTS[valueOf(version)?.name ?? ''];
  return [
    ...(rootDir === undefined ? [] : [{use: 'images and containers', path: rootDir}]),
    {use: 'kcri', path: kcriRootDir},
    {use: 'kubelet', path: KUBELET_ROOT_DIR},
    {use: 'pod logs', path: POD_LOGS},
    {use: 'system', path: '/'},
  ];
}
