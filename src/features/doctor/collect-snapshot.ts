import {setMaxListeners} from 'node:events';
import {createDeadline} from '../../base/async/deadline.js';
import {anySignal} from '../../base/async/any-signal.js';
import {SystemError} from '../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {parseBootTime} from '../why/snapshot/kernel-log.js';
import {mapFact, valueOf} from './fact.js';
import type {NodeSnapshot, RuntimeConfigFacts} from './node-snapshot.js';
import {
  readCni,
  readDisks,
  readFiles,
  readKernelProblems,
  readPodDirs,
  readPodLogs,
} from './readers/files.js';
import {readKubelet} from './readers/kubelet.js';
import {LocalFileReader} from './readers/local-file-reader.js';
import {readProcesses} from './readers/processes.js';
import {readRuntime} from './readers/runtime.js';

/** Time after which what does not answer counts as unreadable, in ms. */
const TIMEOUT_MS = 2000;
const POD_LOGS = '/var/log/pods';

/** Reads everything that the checks examine, at once and within two seconds. Changes nothing. Rejects with the signal's reason. */
export async function collectSnapshot(services: RuntimeContext): Promise<NodeSnapshot> {
  const {context, settings} = services;
  using deadline = createDeadline(
    context.clock,
    TIMEOUT_MS,
    () => new SystemError(`no answer within ${TIMEOUT_MS / 1000}s`),
  );
  using either = anySignal(services.signal, deadline.signal);
  const {signal} = either;
  // All reads listen to it.
  setMaxListeners(0, signal);
  const node = await LocalFileReader.open(signal);
  const processes = await node.fact(async () => await readProcesses(node), '/proc');
  const rootDirs = [...new Set([settings.rootDir, KUBELET_ROOT_DIR])];
  const [ofRuntime, kubelet, files, kernelLog, podDirs, podLogs] = await Promise.all([
    readOfRuntime(services, node, signal),
    readKubelet(services, node, {processes: mapFact(processes, ({kubelets}) => kubelets), signal}),
    readFiles(node),
    node.fact(async () => {
      const stat = valueOf(await node.text('/proc/stat')) ?? '';
      return readKernelProblems(parseBootTime(stat) ?? 0);
    }, '/dev/kmsg'),
    Promise.all(rootDirs.map(async (rootDir) => await readPodDirs(rootDir, node))),
    readPodLogs(POD_LOGS, node),
  ]);
  services.signal.throwIfAborted();
  return {
    takenAt: new Date(context.clock.now()).toISOString(),
    isRoot: process.geteuid?.() === 0,
    ...ofRuntime,
    kubelet,
    files,
    mounts: node.mounts,
    kernelLog,
    processes: mapFact(processes, ({timeKeepers, shims}) => ({timeKeepers, shims})),
    podDirs,
    podLogs,
  };
}

/** Reads the runtime, and then what lies in the directories that it names. */
async function readOfRuntime(
  services: RuntimeContext,
  node: LocalFileReader,
  signal: AbortSignal,
): Promise<Pick<NodeSnapshot, 'runtime' | 'cni' | 'disks'>> {
  const runtime = await readRuntime(services, node, signal);
  const [cni, disks] = await Promise.all([
    readCni(runtime.config, node),
    readDisks(placesOf(valueOf(runtime.config) ?? {}, services.settings.rootDir), node),
  ]);
  return {runtime, cni, disks};
}

function placesOf(
  {rootDir}: RuntimeConfigFacts,
  kcriRootDir: string,
): readonly {readonly use: string; readonly path: string}[] {
  return [
    ...(rootDir === undefined ? [] : [{use: 'images and containers', path: rootDir}]),
    {use: 'kcri', path: kcriRootDir},
    {use: 'kubelet', path: KUBELET_ROOT_DIR},
    {use: 'pod logs', path: POD_LOGS},
    {use: 'system', path: '/'},
  ];
}
