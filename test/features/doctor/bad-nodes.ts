import type {Result} from '../../../src/features/doctor/check.js';
import type {Fact} from '../../../src/features/doctor/fact.js';
import type {NodeSnapshot} from '../../../src/features/doctor/node-snapshot.js';
import {filesWith, GOOD_NODE, TAKEN_AT} from './a-node.js';

const {runtime, kubelet, cni, files} = GOOD_NODE;
const unread: Fact<never> = {error: 'permission denied'};
const missing: Fact<never> = {error: 'no such file or directory', isMissing: true};

const withRuntime = (fields: Partial<NodeSnapshot['runtime']>) => ({runtime: {...runtime, ...fields}});
const withKubelet = (fields: Partial<NodeSnapshot['kubelet']>) => ({kubelet: {...kubelet, ...fields}});
const withCni = (fields: Partial<NodeSnapshot['cni']>) => ({cni: {...cni, ...fields}});
const withText = (path: string, text: string) => ({files: filesWith({[path]: text})});
const withOwn = (fields: object) =>
  withKubelet({own: {value: {pid: 10, errors: [], pressures: [], manifestProblems: [], ...fields}}});
const withConfig = (fields: object) =>
  withKubelet({
    config: {
      value: {
        path: '/c.yaml',
        problems: [],
        ineffective: [],
        cgroupDriver: 'systemd',
        failSwapOn: true,
        ...fields,
      },
    },
  });
const withCertificate = (notAfter: string) =>
  withKubelet({certificates: [{path: '/pki/client.pem', fact: {value: {subject: 'CN=node', notAfter}}}]});
const withLog = (text: string) => ({kernelLog: {value: [{at: '2026-11-27T11:00:00.000Z', text}]}});
const withSpace = (fields: object) => ({
  disks: [
    {
      use: 'system',
      path: '/',
      space: {value: {bytes: 100, availableBytes: 50, inodes: 100, freeInodes: 50, ...fields}},
    },
  ],
});
const orphan = {
  podDirs: [
    {
      rootDir: '/r',
      pods: {value: [{uid: 'gone', modifiedAt: '2026-11-27T11:00:00.000Z'}]},
      records: {value: []},
    },
  ],
};
const version = (text: string) => withRuntime({version: {value: {name: 'containerd', version: text}}});
const condition = (type: string) =>
  withRuntime({conditions: {value: [{type, status: false, reason: 'R', message: 'no config'}]}});
const cgroups = (...kinds: readonly string[]) => ({
  mounts: {
    value: kinds.map((fileSystem) => ({
      path: '/sys/fs/cgroup/cpu',
      fileSystem,
      source: '',
      isReadOnly: false,
    })),
  },
});

/** Check, what differs from a good node, the result, and a part of what is said. */
export const BAD_NODES: readonly (readonly [
  id: string,
  node: Partial<NodeSnapshot>,
  result: Result,
  said: RegExp,
])[] = [
  ['runtime/reachable', withRuntime({endpoint: unread}), 'failure', /no runtime was found/],
  [
    'runtime/reachable',
    withRuntime({calls: [{rpc: 'Version', ms: 2000, error: 'no answer within 2s'}]}),
    'failure',
    /containerd\.sock does not answer .*no answer within 2s/,
  ],
  [
    'runtime/reachable',
    {isRoot: false, ...withRuntime({calls: [{rpc: 'Version', ms: 1, error: 'dial: permission denied'}]})},
    'skipped',
    /only root/,
  ],
  [
    'runtime/latency',
    {isRoot: false, ...withRuntime({calls: [{rpc: 'Version', ms: 1, error: 'dial: permission denied'}]})},
    'skipped',
    /only root/,
  ],
  ['runtime/version', version('1.6.20~ds1'), 'warning', /has had no support since 2025-08-23/],
  ['runtime/version', version('2.2.0'), 'warning', /has had no support since 2026-11-06/],
  ['runtime/version', version('9.0.0'), 'skipped', /not known to kcri/],
  ['runtime/ready', condition('NetworkReady'), 'failure', /NetworkReady is false NetworkReady: R: no config/],
  ['runtime/ready', condition('RuntimeReady'), 'failure', /RuntimeReady is false/],
  ['runtime/ready', withRuntime({conditions: unread}), 'skipped', /permission denied/],
  [
    'runtime/latency',
    withRuntime({calls: [{rpc: 'Status', ms: 900}]}),
    'warning',
    /1 call took 500 ms .*900 ms/,
  ],
  [
    'runtime/latency',
    withRuntime({calls: [{rpc: 'Status', ms: 9, error: 'no'}]}),
    'failure',
    /1 call of 1 failed/,
  ],
  ['runtime/latency', withRuntime({calls: []}), 'skipped', /was not called/],
  [
    'runtime/default-handler',
    withRuntime({config: {value: {defaultHandler: 'kata', handlers: ['runc']}}}),
    'failure',
    /default handler kata is not configured handlers: runc/,
  ],
  ['runtime/default-handler', withRuntime({config: {value: {}}}), 'skipped', /does not report/],
  [
    'runtime/cgroup-driver',
    withConfig({cgroupDriver: 'cgroupfs'}),
    'failure',
    /uses systemd, the kubelet cgroupfs/,
  ],
  ['runtime/pause-image', withRuntime({images: {value: []}}), 'warning', /pause:3\.10 is not present/],
  [
    'runtime/pause-image',
    withRuntime({images: {value: [{tags: ['pause:3.10'], isPinned: false}]}}),
    'warning',
    /not pinned/,
  ],
  [
    'runtime/containers',
    withRuntime({
      containers: {value: [{id: 'c1', name: 'main', sandboxId: 's1', state: 'CONTAINER_UNKNOWN'}]},
    }),
    'failure',
    /1 container in an unknown state main \(c1\)/,
  ],
  [
    'kubelet/process',
    withKubelet({own: {value: null}, processes: {value: []}}),
    'skipped',
    /no kubelet runs/,
  ],
  [
    'kubelet/process',
    withKubelet({processes: {value: [1, 2].map((pid) => ({pid, argv: []}))}}),
    'warning',
    /2 processes named kubelet/,
  ],
  ['kubelet/sync', withOwn({errors: ['runtime down']}), 'failure', /cannot sync pods runtime down/],
  ['kubelet/sync', withOwn({pressures: ['DiskPressure']}), 'warning', /under DiskPressure/],
  ['kubelet/healthz', withKubelet({healthz: {value: {url: 'u', status: 500}}}), 'failure', /u answers 500/],
  [
    'kubelet/healthz',
    withKubelet({healthz: {value: {url: 'u', status: 0}}}),
    'failure',
    /nothing listens on u/,
  ],
  [
    'kubelet/healthz',
    withKubelet({healthz: {value: {url: 'u', status: 0}}, config: unread}),
    'skipped',
    /the configured port is unknown/,
  ],
  ['kubelet/config', withConfig({problems: ['/c.yaml:1: bad']}), 'failure', /is invalid \/c\.yaml:1: bad/],
  [
    'kubelet/config',
    withConfig({ineffective: ['foo: unknown']}),
    'warning',
    /1 field in .* without effect foo/,
  ],
  ['kubelet/certificates', withCertificate('2026-11-26T00:00:00Z'), 'failure', /has expired .*CN=node/],
  ['kubelet/certificates', withCertificate('2026-12-01T00:00:00Z'), 'warning', /expires soon/],
  [
    'kubelet/certificates',
    withKubelet({certificates: [{path: '/p', fact: unread}]}),
    'skipped',
    /permission denied/,
  ],
  [
    'kubelet/manifests',
    withOwn({manifestProblems: [{place: 'a.yaml:1:1', message: 'bad'}]}),
    'failure',
    /1 manifest problem a\.yaml:1:1: bad/,
  ],
  [
    'kubelet/swap',
    withText('/proc/swaps', 'Filename Type Size Used Priority\n/dev/sda2 partition 10 0 -2\n'),
    'failure',
    /failSwapOn\) \/dev\/sda2/,
  ],
  ['network/cni-config', withCni({configs: {value: []}}), 'failure', /has no network configuration/],
  ['network/cni-config', withCni({configs: missing}), 'failure', /does not exist/],
  [
    'network/cni-config',
    withCni({configs: {value: [{path: '/x.conf', text: {value: '{"broken'}}]}}),
    'failure',
    /1 configuration of 1 .*\/x\.conf is not/,
  ],
  [
    'network/cni-config',
    withCni({configs: {value: [{path: '/x.conf', text: {value: '{"plugins": [null]}'}}]}}),
    'failure',
    /1 configuration of 1 .*\/x\.conf is not/,
  ],
  [
    'network/cni-plugins',
    withCni({plugins: {value: []}}),
    'failure',
    /2 plugins cannot be run bridge is missing/,
  ],
  [
    'network/cni-plugins',
    withCni({
      plugins: {value: ['bridge', 'host-local'].map((name) => ({name, isExecutable: name === 'bridge'}))},
    }),
    'failure',
    /host-local is not executable/,
  ],
  ['network/ip-forward', withText('/proc/sys/net/ipv4/ip_forward', '0\n'), 'failure', /ip_forward is 0/],
  ['network/br-netfilter', withText('/proc/sys/net/bridge/bridge-nf-call-iptables', '0'), 'warning', /is 0/],
  [
    'network/br-netfilter',
    {files: {...files, '/proc/sys/net/bridge/bridge-nf-call-iptables': missing}},
    'skipped',
    /br_netfilter is not loaded/,
  ],
  [
    'network/conntrack',
    withText('/proc/sys/net/netfilter/nf_conntrack_count', '250000'),
    'warning',
    /250000 of/,
  ],
  [
    'network/conntrack',
    withText('/proc/sys/net/netfilter/nf_conntrack_count', '262144'),
    'failure',
    /dropped/,
  ],
  ['network/resolv-conf', withText('/etc/resolv.conf', 'search x\n'), 'failure', /has no nameserver/],
  ['network/resolv-conf', withText('/etc/resolv.conf', 'nameserver 127.0.0.53\n'), 'warning', /on loopback/],
  [
    'network/resolv-conf',
    withText('/etc/resolv.conf', 'nameserver 1.1.1.1\n'.repeat(4)),
    'warning',
    /4 name servers/,
  ],
  [
    'network/netns',
    withCni({netns: {value: {directory: '/run/netns', names: ['cni-1', 'cni-2']}}}),
    'warning',
    /2 network namespaces in \/run\/netns, but only 1 pod sandbox/,
  ],
  ['cgroups/version', cgroups('cgroup'), 'warning', /version 1, which Kubernetes/],
  ['cgroups/version', cgroups('cgroup', 'cgroup2'), 'warning', /hybrid/],
  ['cgroups/version', cgroups('tmpfs'), 'failure', /no cgroup file system/],
  [
    'cgroups/controllers',
    withText('/sys/fs/cgroup/cgroup.controllers', 'cpuset cpu'),
    'failure',
    /memory, pids/,
  ],
  [
    'kernel/pressure',
    withText('/proc/pressure/memory', 'full avg10=0 avg60=25.00 avg300=0 total=1\n'),
    'warning',
    /waited for memory .*memory 25%/,
  ],
  ['kernel/oom-kills', withLog('Killed process 7 (java)'), 'warning', /1 process killed .*\(java\)/],
  ['kernel/hung-tasks', withLog('task x:1 blocked for more than 120 seconds.'), 'warning', /1 hung task/],
  ['kernel/file-systems', withLog('EXT4-fs error (device vda)'), 'failure', /1 error of disks/],
  ['kernel/oom-kills', {kernelLog: unread}, 'skipped', /permission denied/],
  ['kernel/files', withText('/proc/sys/fs/file-nr', '99000\t0\t100000'), 'failure', /99000 of 100000/],
  ['kernel/pids', withText('/proc/loadavg', '1 1 1 1/32000 9'), 'failure', /32000 threads of 32768/],
  ['kernel/inotify', withText('/proc/sys/fs/inotify/max_user_instances', '8'), 'warning', /8 instances/],
  ['disk/space', withSpace({availableBytes: 5}), 'failure', /only 5% of the space left;.*\/ \(system\)/],
  ['disk/space', withSpace({availableBytes: 15}), 'warning', /only 15% of the space/],
  ['disk/inodes', withSpace({freeInodes: 1}), 'failure', /only 1% of the inodes/],
  ['disk/inodes', withSpace({inodes: 0, freeInodes: 0}), 'skipped', /counts its inodes/],
  [
    'disk/read-only',
    {mounts: {value: [{path: '/', fileSystem: 'ext4', source: '/dev/vda', isReadOnly: true}]}},
    'failure',
    /^\/ is read-only/,
  ],
  [
    'disk/pod-logs',
    {
      podLogs: {
        value: {directory: '/l', count: 1, isComplete: true, largest: [{path: '/l/0.log', bytes: 2e9}]},
      },
    },
    'warning',
    /1 log larger than 105MB.*\/l\/0\.log: 2GB/,
  ],
  [
    'memory/available',
    withText('/proc/meminfo', 'MemTotal: 8000000 kB\nMemAvailable: 200000 kB\n'),
    'warning',
    /205MB/,
  ],
  [
    'memory/available',
    withText('/proc/meminfo', 'MemTotal: 8000000 kB\nMemAvailable: 1000 kB\n'),
    'failure',
    /evicts/,
  ],
  [
    'memory/swap',
    withText('/proc/meminfo', 'SwapTotal: 1000 kB\nSwapFree: 10 kB\n'),
    'warning',
    /swap in use/,
  ],
  [
    'time/synchronization',
    {files: {...files, '/run/systemd/timesync/synchronized': missing}},
    'warning',
    /no program that synchronizes/,
  ],
  ['leftovers/pod-directories', orphan, 'warning', /1 directory of pods without a sandbox \/r\/pods\/gone/],
  [
    'leftovers/mounts',
    {
      ...orphan,
      mounts: {value: [{path: '/r/pods/gone/v', fileSystem: 'tmpfs', source: '', isReadOnly: false}]},
    },
    'warning',
    /1 mount of pods .*\/r\/pods\/gone\/v \(tmpfs\)/,
  ],
  [
    'leftovers/sandboxes',
    withRuntime({sandboxes: {value: []}}),
    'warning',
    /1 container without a sandbox main/,
  ],
  [
    'leftovers/exited-containers',
    withRuntime({
      containers: {
        value: Array.from({length: 150}, (_, index) => ({
          id: `c${index}`,
          name: 'main',
          sandboxId: 's1',
          state: 'CONTAINER_EXITED',
        })),
      },
    }),
    'warning',
    /150 exited containers/,
  ],
  ['leftovers/shims', withRuntime({sandboxes: {value: []}}), 'warning', /1 shim without .*PID 30: s1/],
  [
    'security/runtime-socket',
    withRuntime({socket: {value: {kind: 'socket', mode: 0o666, owner: 0, bytes: 0, modifiedAt: TAKEN_AT}}}),
    'failure',
    /containerd\.sock has mode 0666/,
  ],
  [
    'security/anonymous-kubelet',
    withKubelet({anonymous: {value: {url: 'u', status: 200}}}),
    'failure',
    /without credentials/,
  ],
  [
    'security/read-only-port',
    withKubelet({readOnly: {value: {url: 'u', status: 200}}}),
    'failure',
    /u lists pods/,
  ],
];
