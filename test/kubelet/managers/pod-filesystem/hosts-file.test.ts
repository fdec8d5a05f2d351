import {mkdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {
  hostNetworkHostsFileContent,
  hostsFileContent,
  updateHostsFile,
  writeHostsFile,
} from '../../../../src/kubelet/managers/pod-filesystem/hosts-file.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod, UID} from '../../../fakes/a-pod.js';

const STANDARD = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;
const input = {podIps: ['10.88.0.5'], hostname: 'web', domain: '', aliases: []};
const aliases = [{ip: '192.0.2.1', hostnames: ['a', 'b.example']}, {ip: '192.0.2.2'}];
const ALIAS_LINES = '\n# Entries added by HostAliases.\n192.0.2.1\ta\tb.example\n192.0.2.2\t\n';

test.each([
  ['a pod', {}, '10.88.0.5\tweb\n'],
  [
    'a pod in a subdomain',
    {domain: 'sub.default.svc.cluster.local'},
    '10.88.0.5\tweb.sub.default.svc.cluster.local\tweb\n',
  ],
  ['a pod with two addresses', {podIps: ['10.88.0.5', 'fd00::5']}, '10.88.0.5\tweb\nfd00::5\tweb\n'],
  ['a pod with aliases', {aliases}, `10.88.0.5\tweb\n${ALIAS_LINES}`],
  [
    'a pod that knows Services',
    {aliases, services: [{ip: '10.88.0.6', hostnames: ['api']}]},
    `10.88.0.5\tweb\n${ALIAS_LINES}\n# Entries added by kcri for Services.\n10.88.0.6\tapi\n`,
  ],
])('the hosts file of %s', (_title, override, end) => {
  expect(hostsFileContent({...input, ...override})).toBe(STANDARD + end);
});

test('a pod in the host network has the hosts file of the node', () => {
  const node = '127.0.0.1 localhost\n192.0.2.9 node\n';
  const header = '# Kubernetes-managed hosts file (host network).\n';
  expect(hostNetworkHostsFileContent(node, [])).toBe(header + node);
  expect(hostNetworkHostsFileContent(node, aliases)).toBe(header + node + ALIAS_LINES);
});

test('an update overwrites an existing hosts file in place, and creates none', async () => {
  const node = {rootDir: await temporaryDirectory()};
  const pod = aPod();
  await mkdir(join(node.rootDir, 'pods', UID), {recursive: true});
  await updateHostsFile(node, pod, 'a longer text');
  const path = await writeHostsFile(node, pod, 'a text');
  const {ino} = await stat(path);
  await Promise.all([updateHostsFile(node, pod, 'a longer text'), updateHostsFile(node, pod, 'short')]);
  expect(await readFile(path, 'utf8')).toBe('short');
  await Promise.all([updateHostsFile(node, pod, 'an earlier text'), writeHostsFile(node, pod, 'last')]);
  expect(await readFile(path, 'utf8')).toBe('last');
  expect((await stat(path)).ino).toBe(ino);
});
