import {constants} from 'node:fs';
import {access, opendir, readFile, readdir, statfs} from 'node:fs/promises';
import {arch, cpus, hostname, release} from 'node:os';
import {resolve} from 'node:path';
import {hasErrno, messageOf, SystemError, UsageError} from '../../base/errors.js';
import {fileError} from '../../base/fs/files.js';
import type {RuntimeService} from '../../cri/index.js';
import {readCgroupDriver} from '../../cri/read-cgroup-driver.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import {DEFAULT_VOLUME_PLUGIN_DIR, type CgroupFacts, type NodeFacts} from '../contract/node-facts.js';
import {validatedSysctls} from './allowed-sysctl.js';
import {machineReader} from './read-machine.js';
import {readHostIps} from './node-addresses.js';
import {readHostsFile, readResolvConf} from './read-network-files.js';
import {runtimeFeaturesOf} from './runtime-features.js';

/** Node settings of the command line. Undefined settings are read from the machine. */
export interface NodeOptions {
  readonly rootDir: string;
  readonly podLogsDir?: string | undefined;
  /** Directory of links to the container logs; empty for none. */
  readonly containerLogsDir?: string | undefined;
  /** Directory of the drivers of FlexVolumes; undefined or empty for that of Kubernetes. */
  readonly volumePluginDir?: string | undefined;
  readonly nodeName?: string | undefined;
  /** Values of --node-ip. */
  readonly nodeIps?: readonly string[] | undefined;
  readonly clusterDns?: readonly string[] | undefined;
  readonly clusterDomain?: string | undefined;
  /** Path of the resolver configuration; empty for none. */
  readonly resolvConf?: string | undefined;
  readonly cgroupRoot?: string | undefined;
  /** Mount point of the cgroup filesystems; undefined if kcri creates no cgroups. */
  readonly cgroupMount?: string | undefined;
  readonly cgroupDriver?: CgroupFacts['driver'] | undefined;
  readonly memoryBytes?: bigint | undefined;
  readonly cpuMilli?: bigint | undefined;
  readonly seccompDefault?: boolean | undefined;
  readonly allowedUnsafeSysctls?: readonly string[] | undefined;
  readonly podPidsLimit?: bigint | undefined;
  /** Additional node labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

const KUBELET_POD_LOGS_DIR = '/var/log/pods';
/** Directory of a kubelet's links to the container logs (ContainerLogsDir), which no field of its configuration changes. */
export const KUBELET_CONTAINER_LOGS_DIR = '/var/log/containers';

/** Filesystem type of cgroup v2 (linux/magic.h CGROUP2_SUPER_MAGIC). */
const CGROUP2_MAGIC = 0x63677270;

/**
 * Returns the name of the node: `override` or else the host name, trimmed and in lower case (nodeutil.GetHostname). Throws
 * UsageError for an empty name.
 */
export function resolveNodeName(override: string | undefined): string {
  const name = (override === undefined || override === '' ? hostname() : override).trim().toLowerCase();
  if (name === '') throw new UsageError('the name of the node is empty', {hint: 'set --hostname-override'});
  return name;
}

/**
 * Reads the node facts from the machine and the runtime. Rejects with ConfigError for an invalid setting, and with SystemError
 * and CriError.
 */
export async function readNodeFacts(
  runtime: Pick<RuntimeService, 'runtimeConfig' | 'status'>,
  options: NodeOptions,
  signal?: AbortSignal,
): Promise<NodeFacts> {
  const cgroupVersion = await readCgroupVersion();
  const nodeName = resolveNodeName(options.nodeName);
  const {nodeIps = [], podLogsDir = KUBELET_POD_LOGS_DIR} = options;
  const [memory, hugePages, , swapAccounting, driver, ephemeral, throttle, features, maxPids] =
    await Promise.all([
      readMemory(),
      readHugePages(),
      options.resolvConf === undefined ? undefined : checkResolvConf(options.resolvConf),
      readSwapAccounting(cgroupVersion),
      options.cgroupDriver ?? readCgroupDriver(runtime, signal),
      readEphemeralStorage(options.rootDir),
      readThermalThrottlePaths(),
      runtime.status({verbose: true}, {signal}).then(runtimeFeaturesOf),
      readMaxPids(),
    ]);
  return {
    nodeName,
    nodeIps,
    hostIps: {current: await readHostIps({nodeName, nodeIps})},
    cpuMilli: options.cpuMilli ?? BigInt(cpus().length) * 1000n,
    memoryBytes: options.memoryBytes ?? memory.memoryBytes,
    swapBytes: memory.swapBytes,
    ephemeralStorageBytes: ephemeral,
    hugePageSizes: [...hugePages.keys()],
    hugePageBytes: hugePages,
    clusterDns: options.clusterDns ?? [],
    clusterDomain: options.clusterDomain ?? '',
    readResolvConf: async () => readResolvConf(options.resolvConf ?? '/etc/resolv.conf'),
    cgroup: {version: cgroupVersion, driver, root: withoutSlash(options.cgroupRoot ?? ''), swapAccounting},
    cgroupMount: options.cgroupMount,
    machine: machineReader(),
    rootDir: options.rootDir,
    podLogsDir,
    containerLogsDir: containerLogsDir(options, podLogsDir),
    volumePluginDir: absolutePluginDir(options),
    seccompDefault: options.seccompDefault ?? false,
    appArmorEnabled: (await readOptional('/sys/module/apparmor/parameters/enabled')).startsWith('Y'),
    kernelRelease: release(),
    allowedUnsafeSysctls: validatedSysctls(options.allowedUnsafeSysctls ?? []),
    podPidsLimit: options.podPidsLimit,
    maxPids,
    labels: {...defaultLabels(nodeName), ...options.labels},
    runtime: features,
    selinuxEnabled: await isReadable('/sys/fs/selinux/enforce'),
    thermalThrottlePaths: throttle,
    readHostsFile,
  };
}

/**
 * Returns the directory of links to the container logs. By default it is where log collectors expect them, if these pods are
 * those of the node: in the root directory or the pod log directory of a kubelet. Others, such as those of a test, get none.
 */
function containerLogsDir({rootDir, containerLogsDir: chosen}: NodeOptions, podLogsDir: string): string {
  const isOfNode = rootDir === KUBELET_ROOT_DIR || podLogsDir === KUBELET_POD_LOGS_DIR;
  return chosen ?? (isOfNode ? KUBELET_CONTAINER_LOGS_DIR : '');
}

/** Drivers are run by their path, which must not depend on the working directory. */
function absolutePluginDir({volumePluginDir = ''}: NodeOptions): string {
  return resolve(volumePluginDir === '' ? DEFAULT_VOLUME_PLUGIN_DIR : volumePluginDir);
}

/** Removes slashes at the end of a path. */
function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Reads the lower of pid_max and threads-max; undefined if one of them is unknown (pidlimit Stats). */
async function readMaxPids(): Promise<bigint | undefined> {
  const limits = await Promise.all(
    ['pid_max', 'threads-max'].map(async (name) => readOptional(`/proc/sys/kernel/${name}`)),
  );
  const [pids, threads] = limits.map((text) => (/^\d+\s*$/.test(text) ? BigInt(text.trim()) : undefined));
  if (pids === undefined || threads === undefined) return undefined;
  return pids < threads ? pids : threads;
}

/** Architectures with different names in Node.js and Go. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = {x64: 'amd64', ia32: '386', ppc64: 'ppc64le'};

/** Returns Go's name of the node's architecture. */
export function goArchitecture(): string {
  return GO_ARCHITECTURES[arch()] ?? arch();
}

/** Returns the labels that the kubelet sets on its node (Kubelet.initialNode). */
function defaultLabels(nodeName: string): Readonly<Record<string, string>> {
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': goArchitecture(),
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': goArchitecture(),
  };
}

async function readOptional(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

async function listOptional(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

async function readMemory(): Promise<Required<Pick<NodeFacts, 'memoryBytes' | 'swapBytes'>>> {
  const text = await readFile('/proc/meminfo', 'utf8');
  const kibibytes = (name: string): string | undefined =>
    new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  const total = kibibytes('MemTotal');
  if (total === undefined) throw new SystemError('cannot find MemTotal in "/proc/meminfo"');
  return {memoryBytes: BigInt(total) * 1024n, swapBytes: BigInt(kibibytes('SwapTotal') ?? 0) * 1024n};
}

/** Returns the bytes of huge pages by page size in CRI notation (`2MB`), smallest size first. */
export async function readHugePages(directory = '/sys/kernel/mm/hugepages'): Promise<Map<string, bigint>> {
  const sizes = (await listOptional(directory))
    .map((name) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0))
    .filter((kilobytes) => kilobytes > 0)
    .sort((a, b) => a - b);
  const entries = sizes.map(async (kilobytes): Promise<readonly [string, bigint]> => {
    const count = await readOptional(`${directory}/hugepages-${kilobytes}kB/nr_hugepages`);
    return [hugePageName(kilobytes), BigInt(count.trim()) * BigInt(kilobytes) * 1024n];
  });
  return new Map(await Promise.all(entries));
}

function hugePageName(kilobytes: number): string {
  const units = ['KB', 'MB', 'GB'];
  let size = kilobytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size}${units[unit] ?? ''}`;
}

/** Rejects with SystemError if the resolver configuration, which was set explicitly, cannot be read. */
async function checkResolvConf(path: string): Promise<void> {
  try {
    await readResolvConf(path);
  } catch (cause) {
    throw new SystemError(`cannot read the resolver configuration: ${messageOf(cause)}`, {
      cause,
      hint: 'set --resolv-conf to a readable file',
    });
  }
}

async function readCgroupVersion(): Promise<1 | 2> {
  try {
    return (await statfs('/sys/fs/cgroup')).type === CGROUP2_MAGIC ? 2 : 1;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return 2;
    throw error;
  }
}

/** Reports whether the kernel supports swap limits, by the files of this process's cgroup. */
async function readSwapAccounting(version: 1 | 2): Promise<boolean> {
  if (version === 1) return await isReadable('/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes');
  const own = /^0::(.*)$/m.exec(await readOptional('/proc/self/cgroup'))?.[1] ?? '/';
  return await isReadable(`/sys/fs/cgroup${own}/memory.swap.max`);
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}

async function readEphemeralStorage(rootDir: string): Promise<bigint> {
  for (let path = rootDir; ; path = path.slice(0, path.lastIndexOf('/'))) {
    try {
      const {blocks, bsize} = await statfs(path === '' ? '/' : path);
      return BigInt(blocks) * BigInt(bsize);
    } catch (error) {
      // A missing root directory will be on the filesystem of its nearest ancestor. Of one that this user may not enter
      // it is an estimate, which suffices for a plan.
      if (!hasErrno(error, 'ENOENT', 'EACCES') || path === '') throw fileError('reading', rootDir, error);
    }
  }
}

async function readThermalThrottlePaths(): Promise<readonly string[]> {
  const base = '/sys/devices/system/cpu';
  const cpuDirs = (await listOptional(base)).filter((name) => /^cpu\d+$/.test(name));
  const paths = cpuDirs.map((name) => `${base}/${name}/thermal_throttle`);
  const found = await Promise.all(paths.map(isDirectory));
  return paths.filter((_, index) => found[index]);
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    await (await opendir(path)).close();
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
