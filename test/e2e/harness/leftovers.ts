import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {computeRuntimeLayout} from '../../../src/private-runtime/private-runtime-layout.js';

/**
 * Returns everything that a private runtime has left on the machine, one line each; empty after `kcri runtime down`.
 */
export function listLeftovers({
  rootDir,
  bridge,
}: {
  readonly rootDir: string;
  readonly bridge: string;
}): string[] {
  const layout = computeRuntimeLayout(rootDir);
  return [
    ...listProcessesWithArgument(rootDir).map((line) => `process ${line}`),
    ...linesWith(readFileSync('/proc/self/mountinfo', 'utf8'), rootDir).map((line) => `mount ${line}`),
    ...networkOf(bridge, layout.socket),
    ...[layout.root, layout.lockFile, layout.socket].filter((path) => existsSync(path)),
  ];
}

/**
 * Returns leftovers of the network. If another runtime owns the bridge by now, its rules and results are not leftovers.
 */
function networkOf(bridge: string, socket: string): string[] {
  const owner = `/sys/class/net/${bridge}/ifalias`;
  if (existsSync(owner)) {
    return readFileSync(owner, 'utf8').includes(socket) ? [`network device ${bridge}`] : [];
  }
  return [
    ...linesWith(natRules(), `"${bridge}\\"`).map((line) => `iptables rule ${line}`),
    ...filesIn('/var/lib/cni/results')
      .filter((name) => name.startsWith(`${bridge}-`))
      .map((name) => `CNI result ${name}`),
  ];
}

/** Returns the running processes whose arguments contain the text; a zombie has no arguments. */
export function listProcessesWithArgument(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${pid} ${commandLine(pid)}`)
    .filter((line) => line.includes(text));
}

/** Returns the directories of the cgroup `path` in every hierarchy where it exists. */
export function listCgroupsAt(path: string): string[] {
  const hierarchies = linesWith(readFileSync('/proc/self/mountinfo', 'utf8'), ' - cgroup').map(
    (line) => line.split(' ')[4] ?? '',
  );
  return hierarchies.map((hierarchy) => `${hierarchy}${path}`).filter((cgroup) => existsSync(cgroup));
}

/** Returns the content of the first of these files that exists in the cgroup, for any cgroup version. */
export function readCgroupValue(cgroup: string, ...files: readonly string[]): string | undefined {
  const paths = listCgroupsAt(cgroup).flatMap((path) => files.map((file) => join(path, file)));
  const found = paths.find((path) => existsSync(path));
  return found === undefined ? undefined : readFileSync(found, 'utf8').trim();
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function natRules(): string {
  return execFileSync('iptables-save', ['-t', 'nat'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function linesWith(text: string, part: string): string[] {
  return text.split('\n').filter((line) => line.includes(part));
}

function filesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}
