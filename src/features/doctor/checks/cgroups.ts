import {counted} from '../../../base/counted.js';
import {failure, judge, ok, textIn, warning, type Check, type Outcome} from '../check.js';
import {isMissing} from '../fact.js';
import type {MountFacts} from '../node-snapshot.js';

const CONTROLLERS = '/sys/fs/cgroup/cgroup.controllers';
/** Controllers that the kubelet requires. */
const REQUIRED = ['cpu', 'cpuset', 'memory', 'pids'];

/** Checks of the control groups. */
export const CGROUP_CHECKS: readonly Check[] = [
  {
    id: 'cgroups/version',
    title: 'version of the cgroup file systems',
    examine: ({mounts}) =>
      judge([mounts], (all) => {
        const {v1, v2} = cgroupMounts(all);
        if (v1.length === 0 && v2.length === 0)
          return failure('no cgroup file system is mounted', {
            remedy: ['mount -t cgroup2 none /sys/fs/cgroup'],
          });
        if (v1.length === 0) return ok('version 2');
        return warning(
          v2.length === 0
            ? 'version 1, which Kubernetes 1.35 and later reject by default'
            : 'hybrid: version 1, and version 2 without its controllers',
          {
            details: [...v2, ...v1].slice(0, 3).map(({path, fileSystem}) => `${fileSystem} at ${path}`),
            remedy: ['boot with systemd.unified_cgroup_hierarchy=1'],
          },
        );
      }),
  },
  {
    id: 'cgroups/controllers',
    title: 'controllers that the kubelet requires',
    examine: (snapshot) => {
      const ofV2 = textIn(snapshot, CONTROLLERS);
      if (!isMissing(ofV2))
        return judge([ofV2], (text) =>
          missingOutcome(REQUIRED.filter((name) => !text.split(' ').includes(name))),
        );
      return judge([textIn(snapshot, '/proc/cgroups'), snapshot.mounts], (text, mounts) => {
        const mounted = cgroupMounts(mounts).v1.map(({path}) => path);
        return missingOutcome(
          REQUIRED.filter(
            (name) =>
              !new RegExp(`^${name}\\t\\d+\\t\\d+\\t1$`, 'm').test(text) ||
              !mounted.some((path) => (path.split('/').at(-1) ?? '').split(',').includes(name)),
          ),
        );
      });
    },
  },
];

function cgroupMounts(mounts: readonly MountFacts[]): {
  readonly v1: readonly MountFacts[];
  readonly v2: readonly MountFacts[];
} {
  const of = (kind: string): readonly MountFacts[] =>
    mounts.filter(({fileSystem, path}) => fileSystem === kind && path.startsWith('/sys/fs/cgroup'));
  return {v1: of('cgroup'), v2: of('cgroup2')};
}

function missingOutcome(missing: readonly string[]): Outcome {
  if (missing.length === 0) return ok(REQUIRED.join(', '));
  return failure(`${counted(missing.length, 'controller')} missing: ${missing.join(', ')}`, {
    remedy: ['cat /proc/cgroups /proc/cmdline'],
  });
}
