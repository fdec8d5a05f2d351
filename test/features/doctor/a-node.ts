import {KERNEL_OPTIONS} from '../../../src/features/doctor/kernel-options.js';
import type {NodeSnapshot} from '../../../src/features/doctor/node-snapshot.js';

const known = <T>(value: T): {readonly value: T} => ({value});

const FILES: Readonly<Record<string, string>> = {
  '/proc/sys/net/ipv4/ip_forward': '1\n',
  '/proc/sys/net/bridge/bridge-nf-call-iptables': '1\n',
  '/proc/sys/net/netfilter/nf_conntrack_count': '100\n',
  '/proc/sys/net/netfilter/nf_conntrack_max': '262144\n',
  '/proc/sys/fs/file-nr': '640\t0\t100000\n',
  '/proc/sys/fs/inotify/max_user_instances': '128\n',
  '/proc/sys/fs/inotify/max_user_watches': '8192\n',
  '/proc/sys/kernel/pid_max': '32768\n',
  '/proc/sys/kernel/osrelease': '6.12.0\n',
  '/proc/sys/kernel/hostname': 'node-1\n',
  '/proc/sys/kernel/keys/root_maxkeys': '1000000\n',
  '/proc/modules': 'overlay 1 2 - Live 0x0\nnf_tables 1 3 - Live 0x0\n',
  '/proc/filesystems': 'nodev\tproc\n\text4\n',
  '/proc/net/ip_tables_names': '',
  '/proc/net/ip6_tables_names': '',
  '/sys/module/apparmor/parameters/enabled': 'Y\n',
  '/proc/loadavg': '0.5 0.5 0.5 1/300 4000\n',
  '/proc/meminfo': 'MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\nSwapTotal: 1000 kB\nSwapFree: 900 kB\n',
  '/proc/swaps': 'Filename Type Size Used Priority\n',
  '/proc/pressure/cpu': 'some avg10=0.00 avg60=1.50 avg300=0.00 total=1\n',
  '/proc/pressure/memory': 'some avg10=0 avg60=0.00 total=1\nfull avg10=0 avg60=0.00 avg300=0 total=1\n',
  '/proc/pressure/io': 'some avg10=0 avg60=0.00 total=1\nfull avg10=0 avg60=0.20 avg300=0 total=1\n',
  '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory hugetlb pids\n',
  '/etc/resolv.conf': 'nameserver 10.0.0.2\n',
  '/run/systemd/timesync/synchronized': '',
};

/** Time of the snapshot. */
export const TAKEN_AT = '2026-11-27T12:00:00.000Z';

/** Returns the files of a good node, with others. */
export function filesWith(texts: Readonly<Record<string, string>>): NodeSnapshot['files'] {
  return Object.fromEntries(Object.entries({...FILES, ...texts}).map(([path, text]) => [path, known(text)]));
}

const CNI_CONFIG = JSON.stringify({name: 'pods', plugins: [{type: 'bridge', ipam: {type: 'host-local'}}]});

/** Snapshot of a node on which all is well. */
export const GOOD_NODE: NodeSnapshot = {
  takenAt: TAKEN_AT,
  isRoot: true,
  runtime: {
    endpoint: known('unix:///run/containerd/containerd.sock'),
    socket: known({kind: 'socket', mode: 0o660, owner: 0, bytes: 0, modifiedAt: TAKEN_AT}),
    calls: ['ListContainers', 'Status', 'Version'].map((rpc) => ({rpc, ms: 3})),
    version: known({name: 'containerd', version: '2.3.1'}),
    conditions: known(
      ['RuntimeReady', 'NetworkReady'].map((type) => ({type, status: true, reason: '', message: ''})),
    ),
    config: known({
      defaultHandler: 'runc',
      handlers: ['runc'],
      sandboxImage: 'pause:3.10',
      rootDir: '/var/lib/containerd',
    }),
    cgroupDriver: known('systemd'),
    handlers: known(['', 'runc']),
    history: known({Status: [2, 3, 3, 4, 5]}),
    sandboxes: known([{id: 's1', namespace: 'default', name: 'web', uid: 'uid-1', isReady: true}]),
    containers: known([
      {id: 'c1', name: 'main', sandboxId: 's1', state: 'CONTAINER_RUNNING', images: ['app:1']},
    ]),
    images: known([
      {id: 'sha256:1', bytes: 1e6, tags: ['pause:3.10'], isPinned: true},
      {id: 'sha256:2', bytes: 1e9, tags: ['app:1'], isPinned: false},
    ]),
  },
  kubelet: {
    own: known({
      pid: 10,
      errors: [],
      pressures: [],
      manifestProblems: [],
      lastActiveAt: '2026-11-27T11:59:59.000Z',
      pleg: {mode: 'events', relistedAt: '2026-11-27T11:59:00.000Z'},
    }),
    processes: known([{pid: 20, argv: ['/usr/bin/kubelet']}]),
    config: known({
      path: '/var/lib/kubelet/config.yaml',
      problems: [],
      ineffective: [],
      cgroupDriver: 'systemd',
      failSwapOn: true,
    }),
    healthz: known({url: 'http://127.0.0.1:10248/healthz', status: 200}),
    anonymous: known({url: 'https://127.0.0.1:10250/pods', status: 401}),
    readOnly: known({url: 'http://127.0.0.1:10255/pods', status: 0}),
    listeners: known([{port: 10_250, process: {pid: 20, name: 'kubelet'}}]),
    apiServer: known({
      url: 'https://api:6443',
      status: 200,
      date: TAKEN_AT,
      receivedAt: '2026-11-27T12:00:00.500Z',
      ms: 20,
      node: 'node-1',
      lease: {renewedAt: '2026-11-27T11:59:55.000Z', durationSeconds: 40},
    }),
    certificates: [
      {
        path: '/pki/client.pem',
        fact: known({subject: 'O=system:nodes\nCN=node', notAfter: '2027-11-27T12:00:00.000Z'}),
      },
    ],
  },
  files: filesWith({}),
  cni: {
    confDir: '/etc/cni/net.d',
    configs: known([{path: '/etc/cni/net.d/10-pods.conflist', text: known(CNI_CONFIG)}]),
    binDirs: ['/opt/cni/bin'],
    plugins: known(['bridge', 'host-local'].map((name) => ({name, isExecutable: true}))),
    netns: known({directory: '/run/netns', names: ['cni-1']}),
  },
  kernel: {
    config: known(Object.fromEntries(KERNEL_OPTIONS.map(({name}) => [name, 'y' as const]))),
  },
  network: {
    interfaces: known([{name: 'veth1', state: 'up'}]),
    addresses: [
      {
        network: 'pods',
        directory: '/var/lib/cni/networks/pods',
        size: 253,
        taken: known({count: 1, owners: ['s1']}),
      },
    ],
    nameServers: [{server: '10.0.0.2', ms: known(3)}],
  },
  networkMounts: known([{path: '/data', fileSystem: 'nfs4', source: 'server:/data', ms: known(4)}]),
  podCgroups: known([
    {uid: 'uid-1', path: '/sys/fs/cgroup/kubepods/poduid-1', modifiedAt: '2026-11-27T10:00:00.000Z'},
  ]),
  programs: Object.fromEntries(
    ['mount', 'umount', 'losetup', 'iptables', 'nft', 'apparmor_parser'].map((name) => [
      name,
      known(`/usr/bin/${name}`),
    ]),
  ),
  disks: [
    {
      use: 'system',
      path: '/',
      space: known({bytes: 1e11, availableBytes: 5e10, inodes: 1e6, freeInodes: 9e5}),
    },
  ],
  diskHistory: known({
    '/': [
      {at: '2026-11-26T12:00:00.000Z', availableBytes: 5.1e10},
      {at: '2026-11-26T13:00:00.000Z', availableBytes: 5.1e10},
    ],
  }),
  mounts: known([
    {path: '/', fileSystem: 'ext4', source: '/dev/vda', isReadOnly: false},
    {path: '/sys/fs/cgroup', fileSystem: 'cgroup2', source: 'cgroup2', isReadOnly: false},
  ]),
  kernelLog: known([]),
  processes: known({
    timeKeepers: [],
    firewalls: [],
    shims: [{pid: 30, namespace: 'k8s.io', id: 's1', address: '/run/containerd/containerd.sock'}],
  }),
  podDirs: [
    {
      rootDir: '/var/lib/kubelet',
      pods: known([{uid: 'uid-1', modifiedAt: '2026-11-27T10:00:00.000Z'}]),
      records: known([]),
      unusedClaims: known([]),
      releasedVolumes: known([]),
    },
  ],
  podLogs: known({
    directory: '/var/log/pods',
    count: 1,
    isComplete: true,
    largest: [{path: '/var/log/pods/a/b/0.log', bytes: 1000}],
  }),
  podTokens: known({
    tokens: [
      {uid: 'uid-1', path: '/pods/uid-1/token', expiresAt: '2026-11-27T13:00:00.000Z'},
      {uid: 'gone', path: '/pods/gone/token', expiresAt: '2026-11-20T13:00:00.000Z'},
    ],
    podsLeftOut: 0,
  }),
};
