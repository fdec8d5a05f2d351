import {TAKEN_AT, filesWith} from './a-node.js';
import {
  addresses,
  anImage,
  cgroups,
  files,
  missing,
  network,
  orphan,
  unread,
  withApiServer,
  withCni,
  withGrowth,
  withKubelet,
  withLog,
  withNetwork,
  withOptions,
  withPrograms,
  withRuntime,
  withSpace,
  withText,
  type BadNode,
} from './node-parts.js';

/** Nodes whose network, kernel, disks or leftovers are bad. */
export const BAD_NODES: readonly BadNode[] = [
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
    'leftovers/claims',
    {
      podDirs: [
        {
          ...{rootDir: '/r', pods: {value: []}, records: {value: []}},
          unusedClaims: {
            value: [
              {claim: 'default/data', path: '/r/claims/default/data'},
              {claim: 'test/db', driver: 'disk.example.com'},
            ],
          },
        },
      ],
    },
    'warning',
    /2 claims with data .*default\/data: \/r\/claims\/default\/data.*test\/db: volume of the CSI driver disk/,
  ],
  [
    'leftovers/volumes',
    {
      podDirs: [
        {
          ...{rootDir: '/r', pods: {value: []}, records: {value: []}},
          releasedVolumes: {
            value: [{name: 'pvc-1', claim: 'default/data', driver: 'disk.example.com', handle: 'vol-7'}],
          },
        },
      ],
    },
    'warning',
    /1 volume whose claim is gone, .*pvc-1 of the claim default\/data: volume vol-7 of the CSI driver disk/,
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
          images: [],
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
  ['network/addresses', addresses(240), 'warning', /pods: 240 of 253 addresses in use/],
  ['network/addresses', addresses(253), 'failure', /pods: 253 of 253/],
  ['network/addresses', addresses(2, ['s1', 'gone']), 'warning', /1 address in \/ipam\/pods of sandboxes/],
  ['network/addresses', withNetwork({addresses: []}), 'skipped', /no network uses host-local/],
  [
    'network/interfaces',
    withNetwork({interfaces: {value: [{name: 'veth1', state: 'lowerlayerdown'}]}}),
    'warning',
    /1 interface of 1 without a peer that is up veth1 is lowerlayerdown/,
  ],
  [
    'network/interfaces',
    withNetwork({interfaces: {value: ['veth1', 'veth2'].map((name) => ({name, state: 'up'}))}}),
    'warning',
    /2 interfaces of pods, 1 pod sandbox: some belong to no pod/,
  ],
  [
    'network/name-servers',
    withNetwork({nameServers: [{server: '10.0.0.2', ms: {error: '10.0.0.2: queryNs ETIMEOUT .'}}]}),
    'failure',
    /no name server of the node answers 10\.0\.0\.2: no answer/,
  ],
  [
    'network/name-servers',
    withNetwork({nameServers: [...network.nameServers, {server: '10.0.0.3', ms: unread}]}),
    'warning',
    /1 name server of 2 do not answer/,
  ],
  ['network/name-servers', withNetwork({nameServers: []}), 'skipped', /names no server/],
  ['network/hostname', withText('/proc/sys/kernel/hostname', 'my_node\n'), 'failure', /my_node is not a DNS/],
  [
    'network/firewall',
    {processes: {value: {timeKeepers: [], firewalls: ['firewalld'], shims: []}}},
    'warning',
    /firewalld runs/,
  ],
  ['kernel/version', withText('/proc/sys/kernel/osrelease', '4.18.0-513.el8\n'), 'warning', /4\.18\.0/],
  ['kernel/config', withOptions({MEMCG: 'n'}), 'failure', /1 option that containers need is not .*_MEMCG/],
  ['kernel/config', withOptions({VXLAN: 'n', KEYS: 'n'}), 'warning', /2 options that some .*_VXLAN/],
  ['kernel/config', {kernel: {config: unread}}, 'skipped', /permission denied/],
  [
    'kernel/modules',
    {files: {...filesWith({'/proc/modules': 'ext4 1 1 - Live 0x0\n'})}},
    'warning',
    /overlay is not loaded overlay: layers of images/,
  ],
  ['kernel/keys', withText('/proc/sys/kernel/keys/root_maxkeys', '200'), 'warning', /only 200 keys/],
  [
    'kernel/packet-filter',
    withText('/proc/net/ip_tables_names', 'nat\nfilter\n'),
    'warning',
    /iptables-legacy \(nat, filter\) exist beside nftables/,
  ],
  [
    'kernel/packet-filter',
    {files: {...files, '/proc/net/ip_tables_names': unread}},
    'skipped',
    /permission denied/,
  ],
  [
    'disk/network-mounts',
    {
      networkMounts: {
        value: [
          {
            path: '/data',
            fileSystem: 'nfs4',
            source: 'server:/data',
            ms: {error: '/data: no answer within 1s'},
          },
        ],
      },
    },
    'failure',
    /1 mount of 1 does not answer \/data \(nfs4 of server:\/data\): no answer within 1s/,
  ],
  [
    'kernel/overlay',
    withLog('overlayfs: upper fs needs to support d_type.'),
    'failure',
    /overlay cannot use .* d_type/,
  ],
  [
    'disk/growth',
    // A tenth must remain, so that 40 of 100 are left, and 20 are stored in a day.
    {
      ...withSpace({}),
      ...withGrowth(['2026-11-26T12:00:00.000Z', 70], ['2026-11-27T10:00:00.000Z', 55]),
    },
    'warning',
    /about 48 hours at this rate \/ \(system\): 20B more in 24 hours/,
  ],
  [
    'disk/growth',
    withGrowth(['2026-11-26T12:00:00.000Z', 9e10]),
    'skipped',
    /fewer than 3 runs in the last week, or in less than a day/,
  ],
  [
    'disk/growth',
    withGrowth(['2026-11-26T12:00:01.000Z', 9e10], ['2026-11-27T10:00:00.000Z', 8e10]),
    'skipped',
    /fewer than 3 runs/,
  ],
  [
    'disk/growth',
    withGrowth(['2026-11-20T11:59:59.000Z', 9e10], ['2026-11-27T10:00:00.000Z', 8e10]),
    'skipped',
    /fewer than 3 runs/,
  ],
  ['disk/growth', {diskHistory: missing}, 'skipped', /no such file/],
  [
    'security/tokens',
    {
      podTokens: {
        value: {
          tokens: [{uid: 'uid-1', path: '/pods/uid-1/token', expiresAt: '2026-11-27T11:00:00.000Z'}],
          podsLeftOut: 2,
        },
      },
    },
    'warning',
    /1 token of 1 has expired.*; those of 2 pods were not read default\/.*: \/pods\/uid-1\/token expired at 2026-11-27T11:00/,
  ],
  ['security/tokens', {podTokens: unread}, 'skipped', /permission denied/],
  ['time/api-server', withApiServer({receivedAt: '2026-11-27T12:01:00.000Z'}), 'warning', /59s ahead of/],
  ['time/api-server', withApiServer({receivedAt: '2026-11-27T11:59:00.000Z'}), 'warning', /60s behind/],
  [
    'leftovers/cgroups',
    {
      podCgroups: {
        value: [{uid: 'gone', path: '/c/kubepods/podgone', modifiedAt: '2026-11-27T10:00:00.000Z'}],
      },
    },
    'warning',
    /1 cgroup of pods without a sandbox \/c\/kubepods\/podgone/,
  ],
  [
    'leftovers/images',
    withRuntime({images: {value: [anImage({bytes: 3e10, tags: ['big:1']})]}}),
    'warning',
    /1 of 1 image are used by no container: 30(\.0)?GB big:1/,
  ],
  ['security/apparmor', withPrograms('apparmor_parser'), 'warning', /apparmor_parser is missing/],
];
