import type {Result} from '../../../src/features/doctor/check.js';
import type {Fact} from '../../../src/features/doctor/fact.js';
import type {NodeSnapshot} from '../../../src/features/doctor/node-snapshot.js';
import {filesWith, GOOD_NODE, TAKEN_AT} from './a-node.js';

export const {runtime, kubelet, cni, files, network, programs, kernel} = GOOD_NODE;
export const unread: Fact<never> = {error: 'permission denied'};
export const missing: Fact<never> = {error: 'no such file or directory', isMissing: true};

export const withRuntime = (fields: Partial<NodeSnapshot['runtime']>) => ({runtime: {...runtime, ...fields}});
export const withKubelet = (fields: Partial<NodeSnapshot['kubelet']>) => ({kubelet: {...kubelet, ...fields}});
export const withNetwork = (fields: Partial<NodeSnapshot['network']>) => ({network: {...network, ...fields}});
export const withApiServer = (fields: object) => {
  const good = kubelet.apiServer;
  return withKubelet({apiServer: 'value' in good ? {value: {...good.value, ...fields}} : good});
};
export const withPrograms = (...names: readonly string[]) => ({
  programs: Object.fromEntries(
    Object.entries(programs).map(([name, fact]) => [name, names.includes(name) ? missing : fact]),
  ),
});
export const withOptions = (fields: Readonly<Record<string, 'n'>>) => ({
  kernel: {config: {value: {...('value' in kernel.config ? kernel.config.value : {}), ...fields}}},
});
export const anImage = (fields: object) => ({
  id: 'sha256:9',
  bytes: 1e6,
  tags: [],
  isPinned: false,
  ...fields,
});
export const addresses = (count: number, owners: readonly string[] = []) =>
  withNetwork({
    addresses: [{network: 'pods', directory: '/ipam/pods', size: 253, taken: {value: {count, owners}}}],
  });
export const withCni = (fields: Partial<NodeSnapshot['cni']>) => ({cni: {...cni, ...fields}});
export const withText = (path: string, text: string) => ({files: filesWith({[path]: text})});
export const withOwn = (fields: object) =>
  withKubelet({
    own: {
      value: {
        ...{pid: 10, errors: [], pressures: [], manifestProblems: [], lastActiveAt: TAKEN_AT},
        pleg: {mode: 'events' as const},
        ...fields,
      },
    },
  });
export const withConfig = (fields: object) =>
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
export const withCertificate = (notAfter: string) =>
  withKubelet({certificates: [{path: '/pki/client.pem', fact: {value: {subject: 'CN=node', notAfter}}}]});
export const withLog = (text: string) => ({kernelLog: {value: [{at: '2026-11-27T11:00:00.000Z', text}]}});
export const withSpace = (fields: object) => ({
  disks: [
    {
      use: 'system',
      path: '/',
      space: {value: {bytes: 100, availableBytes: 50, inodes: 100, freeInodes: 50, ...fields}},
    },
  ],
});
export const withGrowth = (...samples: readonly (readonly [at: string, availableBytes: number])[]) => ({
  diskHistory: {value: {'/': samples.map(([at, availableBytes]) => ({at, availableBytes}))}},
});
export const orphan = {
  podDirs: [
    {
      rootDir: '/r',
      pods: {value: [{uid: 'gone', modifiedAt: '2026-11-27T11:00:00.000Z'}]},
      records: {value: []},
    },
  ],
};
export const version = (text: string) => withRuntime({version: {value: {name: 'containerd', version: text}}});
export const condition = (type: string) =>
  withRuntime({conditions: {value: [{type, status: false, reason: 'R', message: 'no config'}]}});
export const cgroups = (...kinds: readonly string[]) => ({
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
export type BadNode = readonly [id: string, node: Partial<NodeSnapshot>, result: Result, said: RegExp];
