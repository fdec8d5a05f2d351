import {expect, test} from 'vitest';
import {
  configWithoutFile,
  kubeletCertDir,
  kubeletRootDir,
  readConfigOptions,
} from '../../../src/features/kubelet/kubelet-defaults.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';

const OWN = {asKubelet: false, joinsCluster: false};
const JOINED = {asKubelet: false, joinsCluster: true};
const NAMED = {asKubelet: true, joinsCluster: false};

test.each([
  ['kcri kubelet', OWN, {globals: {}, env: {}}, ['/var/lib/kcri', '/var/lib/kcri/pki']],
  ['kcri kubelet --kubeconfig', JOINED, {globals: {}, env: {}}, ['/var/lib/kubelet', '/var/lib/kubelet/pki']],
  ['kubelet', NAMED, {globals: {}, env: {}}, ['/var/lib/kubelet', '/var/lib/kubelet/pki']],
  ['kubelet --root-dir', NAMED, {globals: {'root-dir': '/k'}, env: {}}, ['/k', '/var/lib/kubelet/pki']],
  ['kcri kubelet --kubeconfig --root-dir', JOINED, {globals: {'root-dir': '/k'}, env: {}}, ['/k', '/k/pki']],
  [
    'kcri kubelet --kubeconfig and a variable',
    JOINED,
    {globals: {}, env: {KCRI_ROOT_DIR: '/e'}},
    ['/e', '/e/pki'],
  ],
])('directories of %s', (_, kind, {globals, env}, directories) => {
  const rootDir = kubeletRootDir(globals, env, kind);
  expect([rootDir, kubeletCertDir(rootDir, kind)]).toEqual(directories);
});

test.each([
  ['kubelet --config', NAMED, '/c.yaml', ['0.0.0.0', true, false, 0]],
  ['kubelet', NAMED, undefined, ['0.0.0.0', true, true, 10_255]],
  ['kubelet --config=', NAMED, '', ['0.0.0.0', true, true, 10_255]],
  ['kcri kubelet', OWN, undefined, ['127.0.0.1', false, false, 0]],
  ['kcri kubelet --kubeconfig', JOINED, undefined, ['0.0.0.0', false, false, 0]],
])('%s has the defaults of a kubelet as far as its name is one', (_, kind, file, expected) => {
  const {values} = readKubeletConfig(configWithoutFile(kind, file), new Map(), readConfigOptions(kind));
  const {address, failSwapOn, readOnlyPort, 'authentication.anonymous.enabled': anonymous} = values;
  expect([address, failSwapOn, anonymous, readOnlyPort]).toEqual(expected);
});

test('without --config, a kubelet in a cluster allows everything, which drop-ins and flags override', () => {
  const kind = {asKubelet: true, joinsCluster: true};
  const read = (flags: Readonly<Record<string, string[]>>, ...dropIns: readonly string[]) =>
    readKubeletConfig(
      [...configWithoutFile(kind, undefined), ...dropIns.map((content) => ({path: '10.conf', content}))],
      new Map(Object.entries(flags)),
      readConfigOptions(kind),
    ).values;
  expect(read({})).toMatchObject({
    'authorization.mode': 'AlwaysAllow',
    'authentication.webhook.enabled': false,
    readOnlyPort: 10_255,
  });
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  const dropIn = `${head}authorization: {mode: Webhook}\nreadOnlyPort: 0\naddress: ""\n`;
  expect(read({'anonymous-auth': ['false']}, dropIn)).toMatchObject({
    'authorization.mode': 'Webhook',
    'authentication.anonymous.enabled': false,
    readOnlyPort: 0,
    address: '0.0.0.0',
  });
});

test('an unknown field has no effect in a cluster and under the name kubelet', () => {
  const content =
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nnew: {a: 1}\nmaxPods: 5\n';
  const read = (kind: typeof NAMED) =>
    readKubeletConfig([{path: 'c.yaml', content}], new Map(), readConfigOptions(kind));
  for (const kind of [JOINED, NAMED]) {
    const {values, unsupported} = read(kind);
    expect(values.maxPods).toBe(5);
    expect(unsupported).toEqual([{field: 'new', reason: 'kubelet 1.36 has no such field'}]);
  }
  expect(() => read(OWN)).toThrow('unknown field "new"');
});
