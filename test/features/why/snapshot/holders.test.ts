import {createServer, type AddressInfo} from 'node:net';
import {mkdir, open} from 'node:fs/promises';
import {once} from 'node:events';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {collectHolders} from '../../../../src/features/why/snapshot/collect-holders.js';
import {wantedHolders} from '../../../../src/features/why/snapshot/wanted-holders.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {anEvent, aReport, aSnapshot, aStatusPod} from '../a-snapshot.js';

const {signal} = new AbortController();

test.each([
  ['cannot open hostport 8080 for pod web: listen tcp4 :8080: bind: address already in use', [8080], []],
  ['cannot unmount /r/pods/u/volumes/d: target is busy', [], ['/r/pods/u/volumes/d']],
  ['umount: /r/a b: target is busy.', [], ['/r/a']],
  ['MountVolume.SetUp failed for volume "d" : unlinkat /r/d: device or resource busy', [], ['/r/d']],
  ['mount: /mnt: /dev/sdb already mounted or mount point busy.', [], ['/dev/sdb']],
  ['/r/d: permission denied', [], []],
])('what %j asks for', (message, ports, paths) => {
  expect(wantedHolders(aSnapshot({events: [anEvent({message})]}))).toEqual({ports, paths});
  expect(wantedHolders(aSnapshot({kubelet: aReport({}, {error: message})}))).toEqual({ports, paths});
});

test('ports of a refused pod, and of a container on the network of the node', () => {
  const container = {ports: [{hostPort: 80, containerPort: 80}, {containerPort: 81}]};
  const refused = aStatusPod([], {status: {phase: 'Failed', reason: 'NodePorts'}, container});
  expect(wantedHolders(aSnapshot({pod: refused})).ports).toEqual([80]);
  const containers = {main: {log: ['listen tcp 0.0.0.0:9090: bind: address already in use']}};
  expect(wantedHolders(aSnapshot({containers})).ports).toEqual([]);
  const pod = aStatusPod([{}], {spec: {hostNetwork: true}});
  expect(wantedHolders(aSnapshot({pod, containers})).ports).toEqual([9090]);
});

test('processes and pods that use ports and paths are found', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'below'));
  const file = await open(join(directory, 'below/file'), 'w');
  onTestFinished(async () => {
    await file.close();
    server.close();
  });
  const pod = aStatusPod([], {container: {ports: [{hostPort: port, containerPort: 80}]}});
  const others = [{title: 'default/other', pod}];
  const me = expect.objectContaining({pid: process.pid}) as object;
  expect(
    await collectHolders({ports: [port], paths: [directory, `${directory}/bel`]}, others, signal),
  ).toEqual([
    {of: {port}, processes: [me], pods: ['default/other']},
    {of: {path: directory}, processes: [me], pods: []},
    {of: {path: `${directory}/bel`}, processes: [], pods: []},
  ]);
});

test('a search ends with its signal', async () => {
  const end = new AbortController();
  end.abort(new Error('not read in time'));
  await expect(collectHolders({ports: [], paths: ['/x']}, [], end.signal)).rejects.toThrow(
    'not read in time',
  );
});
