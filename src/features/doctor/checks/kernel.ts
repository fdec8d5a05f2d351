import {counted} from '../../../base/counted.js';
import {failure, judge, ok, skipped, textIn, warning, type Check} from '../check.js';
import {isMissing} from '../fact.js';
import type {KernelProblem, NodeSnapshot} from '../node-snapshot.js';

const HOUR_MS = 3_600_000;
/** Time in which a problem in the kernel's log counts as recent. */
const RECENT_MS = 24 * HOUR_MS;
/** Share of a limit in use from which on it is a warning. */
const SHARE = 0.9;
/** Number of lines of the kernel's log that are shown. */
const SHOWN = 5;
/** Share of the last minute in which tasks waited, in percent, from which on it is a warning. */
const PRESSURE = [
  {name: 'cpu', kind: 'some', limit: 60},
  {name: 'memory', kind: 'full', limit: 10},
  {name: 'io', kind: 'full', limit: 30},
] as const;
const INOTIFY = '/proc/sys/fs/inotify/max_user';
const MIN_INSTANCES = 128;
const MIN_WATCHES = 8192;

/** Checks of the kernel. */
export const KERNEL_CHECKS: readonly Check[] = [
  {
    id: 'kernel/pressure',
    title: 'pressure stall information',
    examine: (snapshot) => {
      const files = PRESSURE.map(({name}) => textIn(snapshot, `/proc/pressure/${name}`));
      if (files.every(isMissing)) return skipped('the kernel has no pressure stall information (psi=1)');
      return judge(files, (...texts) => {
        const shares = PRESSURE.map(({name, kind, limit}, index) => {
          const found = new RegExp(`^${kind} .*avg60=([\\d.]+)`, 'm').exec(texts[index] ?? '');
          const share = Number(found?.[1] ?? 0);
          return {name, share, limit};
        });
        const high = shares.filter(({share, limit}) => share >= limit);
        const text = shares.map(({name, share}) => `${name} ${share}%`).join(', ');
        if (high.length === 0) return ok(`tasks waited in the last minute: ${text}`);
        return warning(
          `tasks waited for ${high.map(({name}) => name).join(' and ')} in the last minute: ${text}`,
          {
            remedy: [{kcri: ['top']}, 'grep . /proc/pressure/*'],
          },
        );
      });
    },
  },
  {
    id: 'kernel/oom-kills',
    title: 'processes that the kernel killed for memory',
    examine: (snapshot) =>
      logged(snapshot, /Killed process/, {
        none: 'none in the last 24 hours',
        some: (count) => `${counted(count, 'process')} killed for memory in the last 24 hours`,
        remedy: [{kcri: ['why']}, 'dmesg -T | grep -i "killed process"'],
      }),
  },
  {
    id: 'kernel/hung-tasks',
    title: 'tasks that hang',
    examine: (snapshot) =>
      logged(snapshot, /blocked for more than|soft lockup/, {
        none: 'none reported in the last 24 hours',
        some: (count) => `the kernel reported ${counted(count, 'hung task')} in the last 24 hours`,
        remedy: ["ps -eo pid,stat,wchan:32,args | awk '$2 ~ /D/'"],
      }),
  },
  {
    id: 'kernel/file-systems',
    title: 'errors of disks and file systems',
    examine: (snapshot) =>
      logged(snapshot, /EXT4-fs error|XFS|BTRFS|I\/O error|read-only/, {
        none: 'none reported in the last 24 hours',
        some: (count) => `the kernel reported ${counted(count, 'error')} of disks in the last 24 hours`,
        remedy: ['dmesg -T --level=err', 'smartctl -a /dev/sda'],
        isFailure: true,
      }),
  },
  {
    id: 'kernel/overlay',
    title: 'file systems below the layers of containers',
    examine: (snapshot) =>
      logged(snapshot, /^overlayfs: (?:upper fs needs to support d_type|filesystem on .* not supported)/, {
        none: 'overlay reports none that it cannot use in the last 24 hours',
        some: () => 'overlay cannot use the file system of the layers',
        remedy: [
          'findmnt -T /var/lib/containerd -o TARGET,FSTYPE,OPTIONS',
          'use ext4, or make xfs with "mkfs.xfs -n ftype=1": xfs_info shows ftype',
        ],
        isFailure: true,
      }),
  },
  {
    id: 'kernel/files',
    title: 'open files',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/sys/fs/file-nr')], (text) => {
        const [used = 0, , max = 0] = text.split(/\s+/).map(Number);
        const found = `${used} of ${max} files are open`;
        if (used < SHARE * max) return ok(found);
        return failure(found, {remedy: [`sysctl -w fs.file-max=${2 * max}`]});
      }),
  },
  {
    id: 'kernel/pids',
    title: 'threads',
    examine: (snapshot) =>
      judge(
        [textIn(snapshot, '/proc/loadavg'), textIn(snapshot, '/proc/sys/kernel/pid_max')],
        (load, max) => {
          const tasks = Number(/ \d+\/(\d+) /.exec(load)?.[1] ?? 0);
          const found = `${tasks} threads of ${max} process IDs`;
          if (tasks < SHARE * Number(max)) return ok(found);
          return failure(found, {remedy: [`sysctl -w kernel.pid_max=${2 * Number(max)}`]});
        },
      ),
  },
  {
    id: 'kernel/inotify',
    title: 'limits of file watchers',
    examine: (snapshot) =>
      judge(
        [textIn(snapshot, `${INOTIFY}_instances`), textIn(snapshot, `${INOTIFY}_watches`)],
        (instances, watches) => {
          const found = `${instances} instances and ${watches} watches for each user`;
          if (Number(instances) >= MIN_INSTANCES && Number(watches) >= MIN_WATCHES) return ok(found);
          return warning(`${found}: less than the kernel's default of ${MIN_INSTANCES} and ${MIN_WATCHES}`, {
            remedy: ['sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288'],
          });
        },
      ),
  },
];

interface LogTexts {
  readonly none: string;
  readonly some: (count: number) => string;
  readonly remedy: NonNullable<Parameters<typeof warning>[1]>['remedy'];
  readonly isFailure?: boolean;
}

/** Judges the recent records of the kernel's log that match. */
function logged(
  {kernelLog, takenAt}: NodeSnapshot,
  pattern: RegExp,
  {none, some, remedy = [], isFailure = false}: LogTexts,
) {
  return judge([kernelLog], (all) => {
    const recent = all.filter(
      ({at, text}) => pattern.test(text) && Date.parse(takenAt) - Date.parse(at) < RECENT_MS,
    );
    if (recent.length === 0) return ok(none);
    const details = recent.slice(-SHOWN).map(({at, text}: KernelProblem) => `${at} ${text}`);
    return (isFailure ? failure : warning)(some(recent.length), {details, remedy});
  });
}
