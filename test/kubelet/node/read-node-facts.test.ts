import {mkdir, writeFile} from 'node:fs/promises';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {readHugePages, readNodeFacts, resolveNodeName} from '../../../src/kubelet/node/read-node-facts.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

test('the cgroup driver is read from the runtime', async () => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const facts = await readNodeFacts(connection.runtime, {rootDir: '/nonexistent/kcri'});
  expect(facts.cgroup.driver).toBe('cgroupfs');
  expect(fake.callsTo('RuntimeConfig')).toHaveLength(1);
});

test('without RuntimeConfig the cgroup driver is read from the verbose runtime status', async () => {
  await using fake = await FakeRuntime.start({unimplemented: ['RuntimeConfig']});
  using connection = connect(fake.endpoint);
  const facts = await readNodeFacts(connection.runtime, {rootDir: '/nonexistent/kcri'});
  expect(facts.cgroup.driver).toBe('cgroupfs');
  expect(fake.callsTo('Status').map(({request}) => request)).toContainEqual({verbose: true});
});

test('the node has the standard labels, the given labels and the features of the runtime', async () => {
  await using fake = await FakeRuntime.start({runtimeHandlers: ['kata']});
  using connection = connect(fake.endpoint);
  const facts = await readNodeFacts(connection.runtime, {
    rootDir: '/nonexistent/kcri',
    nodeName: 'Node',
    labels: {zone: 'a', 'kubernetes.io/os': 'other'},
  });
  expect(facts.labels).toMatchObject({
    'kubernetes.io/hostname': 'node',
    'kubernetes.io/os': 'other',
    'beta.kubernetes.io/os': 'linux',
    zone: 'a',
  });
  const features = {userNamespaces: true, recursiveReadOnlyMounts: true};
  expect(facts.runtime).toEqual({
    handlers: new Map([
      ['', features],
      ['kata', features],
    ]),
    supplementalGroupsPolicy: true,
  });
});

test.each([
  ['--node-ip', {nodeIps: ['fd00::9', '203.0.113.7']}, ['fd00::9', '203.0.113.7']],
  ['the name of the node', {nodeName: '203.0.113.7', nodeIps: ['::']}, ['203.0.113.7']],
])('the host IPs are those of %s', async (_, options, expected) => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const facts = await readNodeFacts(connection.runtime, {rootDir: '/nonexistent/kcri', ...options});
  expect(facts.hostIps.current).toEqual(expected);
});

test('without --node-ip, the node has one host IP, or none on a machine without a network', async () => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const {hostIps} = await readNodeFacts(connection.runtime, {rootDir: '/nonexistent/kcri'});
  expect(hostIps.current.length).toBeLessThanOrEqual(1);
});

test.each([
  [' Node-1.Test ', 'node-1.test'],
  ['', hostname().toLowerCase()],
  [undefined, hostname().toLowerCase()],
])('the name of the node for --hostname-override %j is %j', (override, expected) => {
  expect(resolveNodeName(override)).toBe(expected);
});

test('options override detected facts', async () => {
  const directory = await temporaryDirectory();
  const resolvConf = join(directory, 'resolv.conf');
  await writeFile(resolvConf, 'nameserver 192.0.2.53\n');
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const facts = await readNodeFacts(connection.runtime, {
    rootDir: directory,
    nodeName: 'GoldenNode',
    nodeIps: ['192.0.2.2'],
    resolvConf,
    cgroupRoot: '/some/',
    cgroupDriver: 'systemd',
    clusterDns: ['10.96.0.10'],
  });
  expect(facts).toMatchObject({
    nodeName: 'goldennode',
    nodeIps: ['192.0.2.2'],
    clusterDns: ['10.96.0.10'],
    cgroup: {driver: 'systemd', root: '/some'},
    podLogsDir: '/var/log/pods',
  });
  expect(await facts.readResolvConf()).toMatchObject({nameservers: ['192.0.2.53']});
  expect(facts.memoryBytes).toBeGreaterThan(0n);
  expect(fake.callsTo('RuntimeConfig')).toHaveLength(0);
});

test.each([
  ['does not exist', 'nothing', 'no such file or directory'],
  ['is a directory', '.', 'illegal operation on a directory'],
])('a resolv.conf that %s is rejected with a hint', async (_, name, reason) => {
  const directory = await temporaryDirectory();
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  const resolvConf = join(directory, name);
  await expect(readNodeFacts(connection.runtime, {rootDir: directory, resolvConf})).rejects.toMatchObject({
    code: 'SYSTEM',
    message: `cannot read the resolver configuration: open ${join(directory, name)}: ${reason}`,
    hint: 'set --resolv-conf to a readable file',
  });
});

test('a root directory below a file is rejected with its path', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, '');
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  await expect(readNodeFacts(connection.runtime, {rootDir: `${file}/x`})).rejects.toMatchObject({
    code: 'SYSTEM',
    message: `reading "${file}/x": not a directory`,
  });
});

test('huge pages are read in bytes by size, smallest first', async () => {
  const directory = await temporaryDirectory();
  for (const [size, count] of Object.entries({'hugepages-1048576kB': '2', 'hugepages-2048kB': '3'})) {
    await mkdir(join(directory, size));
    await writeFile(join(directory, size, 'nr_hugepages'), `${count}\n`);
  }
  expect([...(await readHugePages(directory))]).toEqual([
    ['2MB', 6_291_456n],
    ['1GB', 2_147_483_648n],
  ]);
  expect(await readHugePages(join(directory, 'none'))).toEqual(new Map());
});

test.each([
  [
    'below the root directory of a kubelet',
    {rootDir: '/var/lib/kubelet', podLogsDir: '/srv/pods'},
    '/var/log/containers',
  ],
  ['below the pod log directory of a kubelet', {rootDir: '/nonexistent/kcri'}, '/var/log/containers'],
  ['of other directories', {rootDir: '/nonexistent/kcri', podLogsDir: '/srv/pods'}, ''],
  ['with a directory', {rootDir: '/nonexistent/kcri', containerLogsDir: '/srv/links'}, '/srv/links'],
  ['with an empty directory', {rootDir: '/var/lib/kubelet', containerLogsDir: ''}, ''],
])('the links to the logs of pods %s are where log collectors expect them', async (_, options, expected) => {
  await using fake = await FakeRuntime.start();
  using connection = connect(fake.endpoint);
  expect((await readNodeFacts(connection.runtime, options)).containerLogsDir).toBe(expected);
});
