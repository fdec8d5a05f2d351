import {join} from 'node:path';
import {stateDirectory} from '../../../base/fs/state-directory.js';
import type {KernelRecord} from '../../why/snapshot/kernel-log.js';
import {isMissing, mapFact, valueOf, type Fact} from '../fact.js';
import type {
  CniFacts,
  DiskFacts,
  KernelProblem,
  NodeSnapshot,
  PodDirs,
  PodLogs,
  RuntimeConfigFacts,
} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';
import {readReleasedVolumes, readUnusedClaims} from './unused-claims.js';

const PROC = '/proc/sys';

/** Files that checks examine as they are. */
export const FILES = [
  `${PROC}/net/ipv4/ip_forward`,
  `${PROC}/net/bridge/bridge-nf-call-iptables`,
  `${PROC}/net/netfilter/nf_conntrack_count`,
  `${PROC}/net/netfilter/nf_conntrack_max`,
  `${PROC}/fs/file-nr`,
  `${PROC}/fs/inotify/max_user_instances`,
  `${PROC}/fs/inotify/max_user_watches`,
  `${PROC}/kernel/pid_max`,
  `${PROC}/kernel/osrelease`,
  `${PROC}/kernel/hostname`,
  `${PROC}/kernel/keys/root_maxkeys`,
  '/proc/modules',
  '/proc/filesystems',
  '/proc/net/ip_tables_names',
  '/proc/net/ip6_tables_names',
  '/sys/module/apparmor/parameters/enabled',
  '/proc/loadavg',
  '/proc/meminfo',
  '/proc/swaps',
  '/proc/cgroups',
  '/proc/pressure/cpu',
  '/proc/pressure/memory',
  '/proc/pressure/io',
  '/sys/fs/cgroup/cgroup.controllers',
  '/etc/resolv.conf',
  '/run/systemd/timesync/synchronized',
] as const;

/** Reads the texts of the files. */
export async function readFiles(node: FileReader): Promise<NodeSnapshot['files']> {
  const texts = await Promise.all(FILES.map(async (path) => [path, await node.text(path)] as const));
  return Object.fromEntries(texts);
}

/** Programs that kubelets, network plugins and runtimes call. */
const PROGRAMS = ['mount', 'umount', 'losetup', 'iptables', 'nft', 'apparmor_parser'] as const;
const PROGRAM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Looks for programs. */
export async function readPrograms(node: FileReader): Promise<NodeSnapshot['programs']> {
  const find = async (name: string): Promise<Fact<string>> => {
    const paths = PROGRAM_DIRS.map((directory) => join(directory, name));
    const files = await Promise.all(paths.map(async (path) => await node.file(path)));
    const index = files.findIndex((file) => (valueOf(file)?.mode ?? 0) & 0o111);
    return index >= 0
      ? {value: paths[index] ?? ''}
      : {error: `${name} is in none of ${PROGRAM_DIRS.join(', ')}`, isMissing: true};
  };
  return Object.fromEntries(
    await Promise.all(PROGRAMS.map(async (name) => [name, await find(name)] as const)),
  );
}

/** Number of network configurations that are read. */
const MAX_CONFIGS = 50;

/** Reads the network configurations and plugins in the directories of the runtime. */
export async function readCni(config: Fact<RuntimeConfigFacts>, node: FileReader): Promise<CniFacts> {
  const {
    cniConfDir: confDir = '/etc/cni/net.d',
    cniBinDirs: binDirs = ['/opt/cni/bin'],
    ...runtime
  } = valueOf(config) ?? {};
  const netnsDir = runtime.netnsUnderStateDir === true ? join(runtime.stateDir ?? '', 'netns') : '/run/netns';
  const [configs, plugins, netns] = await Promise.all([
    readConfigs(confDir, node),
    readPlugins(binDirs, node),
    node.names(netnsDir),
  ]);
  return {
    confDir,
    configs,
    binDirs,
    plugins,
    netns: mapFact(netns, (all) => ({
      directory: netnsDir,
      names: all.filter((name) => name.startsWith('cni-')),
    })),
  };
}

async function readConfigs(directory: string, node: FileReader): Promise<CniFacts['configs']> {
  const names = await node.names(directory);
  if ('error' in names) return names;
  const paths = names.value
    .filter((name) => /\.(conf|conflist|json)$/.test(name))
    .slice(0, MAX_CONFIGS)
    .map((name) => join(directory, name));
  return {value: await Promise.all(paths.map(async (path) => ({path, text: await node.text(path)})))};
}

async function readPlugins(directories: readonly string[], node: FileReader): Promise<CniFacts['plugins']> {
  const lists = await Promise.all(
    directories.map(async (directory) => ({directory, names: await node.names(directory)})),
  );
  const [first] = lists;
  if (first !== undefined && lists.every(({names}) => 'error' in names) && 'error' in first.names)
    return first.names;
  const plugins = lists.flatMap(({directory, names}) =>
    (valueOf(names) ?? []).map((name) => ({directory, name})),
  );
  const files = await Promise.all(
    plugins.map(async ({directory, name}) => ({name, file: await node.file(join(directory, name))})),
  );
  const unread = files.find(({file}) => 'error' in file && !isMissing(file))?.file;
  if (unread !== undefined && 'error' in unread) return unread;
  const executable = (mode: number): boolean => (mode & 0o111) !== 0;
  return {value: files.map(({name, file}) => ({name, isExecutable: executable(valueOf(file)?.mode ?? 0)}))};
}

/** Reads the space of the file systems that pods need, each once. */
export async function readDisks(
  places: readonly {readonly use: string; readonly path: string}[],
  node: FileReader,
): Promise<readonly DiskFacts[]> {
  const disks = await Promise.all(
    places.map(async ({use, path}) => ({use, path, space: await node.space(path)})),
  );
  return disks.filter(({path}, index) => disks.findIndex((other) => other.path === path) === index);
}

/** Messages of the kernel that report a problem. */
const PROBLEM =
  /Killed process \d+|blocked for more than \d+ seconds|EXT4-fs error|XFS .*(?:[Cc]orruption|I\/O error)|BTRFS.*error|I\/O error, dev|table full, dropping packet|soft lockup|Kernel panic|Remounting filesystem read-only|cgroup: fork rejected|overlayfs: (?:upper fs (?:needs to support d_type|does not support)|filesystem on .* not supported as upperdir)/;
const MAX_PROBLEMS = 200;
const MAX_TEXT = 160;

/** Reads the problems in the kernel's log. Throws a system error if it cannot be read. */
export function kernelProblems(
  records: readonly KernelRecord[],
  bootedAtMs: number,
): readonly KernelProblem[] {
  return records
    .filter(({text}) => PROBLEM.test(text))
    .slice(-MAX_PROBLEMS)
    .map(({micros, text}) => ({
      at: new Date(bootedAtMs + micros / 1000).toISOString(),
      text: text.slice(0, MAX_TEXT),
    }));
}

/** Reads the directories of pods below a root directory. */
export async function readPodDirs(rootDir: string, node: FileReader): Promise<PodDirs> {
  const directory = join(rootDir, 'pods');
  const [names, records, unusedClaims, releasedVolumes] = await Promise.all([
    node.names(directory),
    node.names(join(stateDirectory(rootDir), 'records')),
    readUnusedClaims(rootDir, node),
    readReleasedVolumes(rootDir, node),
  ]);
  const pods =
    'error' in names
      ? names
      : {
          value: await Promise.all(
            names.value.map(async (uid) => ({
              uid,
              modifiedAt: valueOf(await node.file(join(directory, uid)))?.modifiedAt ?? '',
            })),
          ),
        };
  const uids = mapFact(records, (all) => all.map((name) => name.replace(/\.json$/, '')));
  return {rootDir, pods, records: uids, unusedClaims, releasedVolumes};
}

/** Number of log files that are looked at, and of those that are kept. */
const MAX_LOGS = 5000;
const KEPT_LOGS = 10;

/** Reads the sizes of the log files of pods. */
export async function readPodLogs(directory: string, node: FileReader): Promise<Fact<PodLogs>> {
  const pods = await node.names(directory);
  if ('error' in pods) return pods;
  const paths: string[] = [];
  for (const pod of pods.value) {
    const containers = await node.names(join(directory, pod));
    if ('error' in containers && !isMissing(containers)) return containers;
    for (const container of valueOf(containers) ?? []) {
      const place = join(directory, pod, container);
      paths.push(...(valueOf(await node.names(place)) ?? []).map((name) => join(place, name)));
    }
    if (paths.length > MAX_LOGS) break;
  }
  const isComplete = paths.length <= MAX_LOGS;
  const sizes = await Promise.all(
    paths.slice(0, MAX_LOGS).map(async (path) => ({path, bytes: valueOf(await node.file(path))?.bytes ?? 0})),
  );
  const largest = sizes.toSorted((a, b) => b.bytes - a.bytes).slice(0, KEPT_LOGS);
  return {value: {directory, count: sizes.length, isComplete, largest}};
}
