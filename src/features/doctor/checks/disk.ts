import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {humanSize} from '../../../format/human-size.js';
import {failure, judge, ok, skipped, warning, type Check, type Outcome} from '../check.js';
import type {DiskFacts, DiskSample, RunHistory} from '../node-snapshot.js';

/** Multiple of the available share at which a kubelet evicts pods by default, from which on it is a warning. */
const SOON = 2;
/** Share of the space below which a kubelet evicts pods by default (nodefs.available). */
const EVICTION_SHARE = 0.1;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** Number of runs that are needed for a rate of growth. */
const MIN_SAMPLES = 3;
/** Time until an eviction from which on it is a warning. */
const FULL_SOON_MS = 3 * DAY_MS;
/** Size of a log file that does not rotate: ten times the kubelet's containerLogMaxSize. */
const LARGE_LOG_BYTES = 100 * 1024 * 1024;

const percent = (share: number): string => `${Math.floor(share * 100)}%`;

/** Checks of the disks. */
export const DISK_CHECKS: readonly Check[] = [
  {
    id: 'disk/space',
    title: 'available space',
    examine: ({disks}) =>
      judgeDisks(disks, {
        limit: EVICTION_SHARE,
        what: 'space',
        measure: ({bytes, availableBytes}) => [availableBytes, bytes],
        format: (free) => humanSize(free, 3),
      }),
  },
  {
    id: 'disk/inodes',
    title: 'free inodes',
    examine: ({disks}) =>
      judgeDisks(disks, {
        limit: 0.05,
        what: 'inodes',
        measure: ({inodes, freeInodes}) => [freeInodes, inodes],
        format: (free) => `${free} inodes`,
      }),
  },
  {
    id: 'disk/growth',
    title: 'growth of what is stored',
    examine: ({disks, diskHistory, takenAt}) =>
      judge([diskHistory], (history) => {
        const grown = disks.flatMap((disk) => growthOf(disk, history, Date.parse(takenAt)) ?? []);
        if (grown.length === 0)
          return skipped(`fewer than ${MIN_SAMPLES} runs in the last week, or in less than a day`);
        const bad = grown.filter(({msLeft}) => msLeft < FULL_SOON_MS);
        if (bad.length === 0) return ok(`space for ${FULL_SOON_MS / DAY_MS} days or more at this rate`);
        const soonest = Math.min(...bad.map(({msLeft}) => msLeft));
        return warning(
          `a kubelet evicts pods in about ${counted(Math.max(1, Math.round(soonest / HOUR_MS)), 'hour')} at this rate`,
          {
            details: bad.map(({line}) => line),
            remedy: [{kcri: ['system', 'df']}, {kcri: ['system', 'prune']}],
          },
        );
      }),
  },
  {
    id: 'disk/network-mounts',
    title: 'network file systems',
    examine: ({networkMounts}) =>
      judge([networkMounts], (all) => {
        const hung = all.flatMap(({ms, ...mount}) => ('error' in ms ? [{...mount, error: ms.error}] : []));
        if (hung.length === 0)
          return ok(all.length === 0 ? 'none is mounted' : `${counted(all.length, 'mount')}, all answer`);
        return failure(
          `${counted(hung.length, 'mount')} of ${all.length} ${hung.length === 1 ? 'does' : 'do'} not answer`,
          {
            details: hung.map(
              ({path, fileSystem, source, error}) =>
                `${path} (${fileSystem} of ${source}): ${error.replace(`${path}: `, '')}`,
            ),
            remedy: [
              'check the server and the network to it; processes that use the mount hang until it answers',
              ...hung.slice(0, 3).map(({path}) => `umount -f -l ${shellQuote(path)}`),
            ],
          },
        );
      }),
  },
  {
    id: 'disk/read-only',
    title: 'file systems of the node',
    examine: ({mounts, disks}) =>
      judge([mounts], (all) => {
        const places = new Set(disks.map(({path}) => path));
        const bad = all.filter(({path, isReadOnly}) => isReadOnly && places.has(path));
        if (bad.length === 0) return ok('none that the runtime or the kubelet writes to is read-only');
        return failure(
          `${bad.map(({path}) => path).join(', ')} ${bad.length === 1 ? 'is' : 'are'} read-only`,
          {
            details: bad.map(({path, source, fileSystem}) => `${path}: ${fileSystem} of ${source}`),
            remedy: [
              'dmesg -T --level=err',
              ...bad.map(({path}) => `mount -o remount,rw ${shellQuote(path)}`),
            ],
          },
        );
      }),
  },
  {
    id: 'disk/pod-logs',
    title: 'size of the logs of containers',
    examine: ({podLogs}) => {
      if ('error' in podLogs && podLogs.isMissing === true) return ok('no logs of pods');
      return judge([podLogs], ({directory, count, isComplete, largest}) => {
        const large = largest.filter(({bytes}) => bytes > LARGE_LOG_BYTES);
        const files = `${isComplete ? '' : 'the first '}${counted(count, 'file')} in ${directory}`;
        const limit = humanSize(LARGE_LOG_BYTES, 3);
        if (large.length === 0) return ok(`${files}, none larger than ${limit}`);
        return warning(`${counted(large.length, 'log')} larger than ${limit}: they do not rotate`, {
          details: large.map(({path, bytes}) => `${path}: ${humanSize(bytes, 3)}`),
          remedy: [
            'set containerLogMaxSize and containerLogMaxFiles of the kubelet',
            ...large.map(({path}) => `truncate -s 0 ${shellQuote(path)}`),
          ],
        });
      });
    },
  },
];

type Space = Extract<DiskFacts['space'], {readonly value: unknown}>['value'];

/** Growth of what is stored on a disk. */
interface Growth {
  readonly line: string;
  /** Time until the space is below EVICTION_SHARE, in ms; infinite if it does not shrink. */
  readonly msLeft: number;
}

/**
 * Compares the space with that of the earliest run of the last week. Undefined with fewer than three runs, or in less than a day,
 * which say nothing about a rate, and for a disk on which pods are evicted already.
 */
function growthOf(
  {use, path, space}: DiskFacts,
  history: RunHistory<DiskSample>,
  nowMs: number,
): Growth | undefined {
  if ('error' in space) return undefined;
  const ageOf = ({at}: DiskSample): number => nowMs - Date.parse(at);
  const samples = (history[path] ?? []).filter((sample) => ageOf(sample) <= WEEK_MS && ageOf(sample) > 0);
  const [earlier] = samples;
  const left = space.value.availableBytes - EVICTION_SHARE * space.value.bytes;
  // This run is one, too.
  if (earlier === undefined || samples.length + 1 < MIN_SAMPLES) return undefined;
  if (ageOf(earlier) < DAY_MS || left <= 0) return undefined;
  const stored = earlier.availableBytes - space.value.availableBytes;
  const hours = Math.round(ageOf(earlier) / HOUR_MS);
  return {
    line: `${path} (${use}): ${humanSize(Math.max(0, stored), 3)} more in ${counted(hours, 'hour')}`,
    msLeft: stored <= 0 ? Infinity : (left / stored) * ageOf(earlier),
  };
}

/** Property of a disk that a check judges. */
interface DiskLimit {
  /** Available share at which a kubelet evicts pods by default (nodefs.available, nodefs.inodesFree). */
  readonly limit: number;
  readonly what: string;
  readonly measure: (space: Space) => readonly [free: number, total: number];
  readonly format: (free: number) => string;
}

/** Judges the available share of each disk; a file system that counts none, such as inodes on btrfs, is left out. */
function judgeDisks(disks: readonly DiskFacts[], {limit, what, measure, format}: DiskLimit): Outcome {
  const shares = disks.flatMap(({use, path, space}) => {
    if ('error' in space) return [];
    const [free, total] = measure(space.value);
    return total === 0
      ? []
      : [{line: `${path} (${use}): ${percent(free / total)} left, ${format(free)}`, share: free / total}];
  });
  const unread = disks.flatMap(({space}) =>
    'error' in space && space.isMissing !== true ? [space.error] : [],
  );
  if (shares.length === 0) return skipped(unread[0] ?? `no file system counts its ${what}`);
  const bad = shares.filter(({share}) => share < SOON * limit);
  const least = Math.min(...shares.map(({share}) => share));
  if (bad.length === 0)
    return ok(
      `at least ${percent(least)} of the ${what} left${unread.length === 0 ? '' : `; not read: ${unread.join('; ')}`}`,
    );
  const isEvicting = least < limit;
  return (isEvicting ? failure : warning)(
    `only ${percent(least)} of the ${what} left; a kubelet evicts pods below ${percent(limit)} by default`,
    {
      details: [...bad.map(({line}) => line), ...unread],
      remedy: [{kcri: ['system', 'df']}, {kcri: ['system', 'prune']}],
    },
  );
}
