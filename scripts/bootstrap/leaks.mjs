/**
 * Finds what a run of the tests has left on the machine: processes, mounts, network namespaces, network devices and
 * cgroups. Processes are found by a variable that they inherit, whoever their parent is by now; the rest by
 * comparing the machine with what it was before the run.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';

/** Variable that marks the processes of a run. */
export const RUN_VARIABLE = 'KCRI_TEST_RUN';

/** Time in which processes that were ended may exit, in ms. */
const EXIT_MS = 60_000;
const POLL_MS = 100;
/** Cgroups of systemd, which come and go by themselves. */
const SYSTEMD = /\.(slice|scope|service|mount)$/;
/** The parent that runc creates for containers without one, and never removes. */
const RUNC_PARENT = 'k8s.io';

/**
 * Returns the mounts, network namespaces, network devices and cgroups of this machine, one line each.
 *
 * @returns {string[]}
 */
export function listMachine() {
  const mounts = parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  const hierarchies = mounts.filter(({type}) => type.startsWith('cgroup')).map(({path}) => path);
  return [
    ...mounts.map(({path, type, root}) =>
      type === 'nsfs' && root.startsWith('net:') ? `network namespace ${path}` : `mount ${path}`,
    ),
    ...readdirSync('/sys/class/net').map((name) => `network device ${name}`),
    ...hierarchies.flatMap((path) => cgroupsBelow(path)).map((path) => `cgroup ${path}`),
  ].filter((line) => !line.endsWith(`/${RUNC_PARENT}`));
}

/**
 * Parses /proc/self/mountinfo.
 *
 * @param {string} text
 */
export function parseMounts(text) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [own = '', source = ''] = line.split(' - ');
      const [, , , root = '', path = ''] = own.split(' ');
      return {root, path, type: source.split(' ')[0] ?? ''};
    });
}

/** Returns the directories of a hierarchy; none of a cgroup that is removed meanwhile. */
function cgroupsBelow(path) {
  return subdirectories(path)
    .filter((name) => !SYSTEMD.test(name))
    .flatMap((name) => [join(path, name), ...cgroupsBelow(join(path, name))]);
}

function subdirectories(path) {
  try {
    return readdirSync(path, {withFileTypes: true}).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    );
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
}

/**
 * Returns the lines that a machine has in addition, and of nested cgroups and mounts only the outermost.
 *
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 * @returns {string[]}
 */
export function findAdditions(before, after) {
  const left = new Map();
  for (const line of before) left.set(line, (left.get(line) ?? 0) + 1);
  const added = after.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
  return added.filter((line) => !added.some((other) => line.startsWith(`${other}/`)));
}

/**
 * Returns the processes of a run and their descendants, such as those of containers, whose environment is another.
 *
 * @param {readonly {pid: number, ppid: number, environ: string, command: string}[]} processes
 * @param {string} run
 * @returns {string[]} one line each
 */
export function findProcessesOf(processes, run) {
  const mark = `${RUN_VARIABLE}=${run}`;
  const found = new Set(
    processes.filter(({environ}) => environ.split('\0').includes(mark)).map(({pid}) => pid),
  );
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const {pid, ppid} of processes) if (found.has(ppid)) found.add(pid);
  }
  return processes
    .filter(({pid, command}) => found.has(pid) && command !== '')
    .map(({pid, command}) => `process ${pid} ${command}`);
}

/**
 * Returns the processes of a run on this machine, one line each.
 *
 * @param {string} run
 */
export function listProcessesOf(run) {
  return findProcessesOf(listProcesses(), run);
}

/** Returns the processes of this machine, without those that end meanwhile. */
function listProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const read = (file) => readFileSync(`/proc/${name}/${file}`, 'utf8');
        const ppid = Number(/^PPid:\t(\d+)/m.exec(read('status'))?.[1]);
        const command = read('cmdline').replaceAll('\0', ' ').trim();
        return [{pid: Number(name), ppid, environ: read('environ'), command}];
      } catch (error) {
        if (!['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) throw error;
        return [];
      }
    });
}

/**
 * Returns the lines of a run that has left something, and none otherwise.
 *
 * @param {readonly string[]} leaks
 * @returns {string[]}
 */
export function describeLeaks(leaks) {
  if (leaks.length === 0) return [];
  const advice = 'find the test that started them, and let it end them';
  return [`left by the tests (${leaks.length}); ${advice}:`, ...leaks.map((line) => `  ${line}`)];
}

/**
 * Returns what a run has left, one line each, once nothing is left or processes have had time to exit.
 *
 * @param {string} run
 * @param {readonly string[]} before the machine before the run
 */
export async function listLeaks(run, before) {
  const end = performance.now() + EXIT_MS;
  for (;;) {
    const leaks = [...listProcessesOf(run), ...findAdditions(before, listMachine())];
    if (leaks.length === 0 || performance.now() > end) return leaks;
    await delay(POLL_MS);
  }
}
