import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {containerId} from '../../../../src/cri/index.js';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {
  NodePodFilesystem,
  type MountedPodVolumes,
} from '../../../../src/kubelet/managers/pod-filesystem/node-pod-filesystem.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const main = aContainer({volumeMounts: [{name: 'v', mountPath: '/v'}]});

function aMountingPod(spec: Partial<PodSpec> = {}): Pod {
  return aPod({containers: [main], volumes: [{name: 'v', emptyDir: {}}], ...spec}, {uid: 'u1'});
}

async function aNode(): Promise<{node: NodeFacts; files: NodePodFilesystem; data: string}> {
  const directory = await temporaryDirectory();
  const node = {...GOLDEN_NODE, rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
  let calls = 0;
  return {
    node,
    files: new NodePodFilesystem(node, () => calls++, systemClock),
    data: `${node.rootDir}/pods/u1`,
  };
}

test('a container gets a hosts file with the address, a termination log and a log directory', async () => {
  const {node, files, data} = await aNode();
  const pod = aMountingPod({subdomain: 'sub'});
  await files.makePodDirs(pod);
  const made = await files.prepareContainer({pod, container: main, podIps: ['10.88.0.5'], subPaths: []});
  expect(made).toEqual({
    hostsPath: `${data}/etc-hosts`,
    terminationLogPath: `${data}/containers/main/00000000`,
    subPathTargets: new Map(),
  });
  expect(await readFile(`${data}/etc-hosts`, 'utf8')).toContain(
    '10.88.0.5\tweb.sub.default.svc.cluster.local\tweb\n',
  );
  expect(await readdir(`${node.podLogsDir}/default_web_u1`)).toEqual(['main']);
});

test.each<[string, Partial<PodSpec>, readonly string[]]>([
  ['without a pod IP', {}, []],
  [
    'that mounts /etc/hosts itself',
    {containers: [{...main, volumeMounts: [{name: 'v', mountPath: '/etc/hosts'}]}]},
    ['10.0.0.1'],
  ],
])('a container %s gets no hosts file', async (_title, spec, podIps) => {
  const {files, data} = await aNode();
  const pod = aMountingPod(spec);
  await files.makePodDirs(pod);
  const [container = main] = pod.spec.containers;
  const {hostsPath} = await files.prepareContainer({pod, container, podIps, subPaths: []});
  expect(hostsPath).toBeUndefined();
  expect(await readdir(data)).not.toContain('etc-hosts');
});

test('a pod in the host network has the hosts file of the node', async () => {
  const {files} = await aNode();
  const pod = aMountingPod({hostNetwork: true});
  await files.makePodDirs(pod);
  const {hostsPath = ''} = await files.prepareContainer({pod, container: main, podIps: [], subPaths: []});
  expect(await readFile(hostsPath, 'utf8')).toBe(
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n',
  );
});

test('the hosts file of the node is read whenever a container starts', async () => {
  const {node} = await aNode();
  let content = '192.0.2.1 one\n';
  let calls = 0;
  const facts = {...node, readHostsFile: async () => content};
  const files = new NodePodFilesystem(facts, () => calls++, systemClock);
  const pod = aMountingPod({hostNetwork: true});
  await files.makePodDirs(pod);
  const hostsOfNewContainer = async (): Promise<string> => {
    const {hostsPath = ''} = await files.prepareContainer({pod, container: main, podIps: [], subPaths: []});
    return await readFile(hostsPath, 'utf8');
  };
  expect(await hostsOfNewContainer()).toContain('192.0.2.1 one');
  content = '192.0.2.2 two\n';
  expect(await hostsOfNewContainer()).toContain('192.0.2.2 two');
});

test('removing a pod removes everything of it and nothing of other pods', async () => {
  const {node, files} = await aNode();
  const pod = aMountingPod();
  const other = {...pod, metadata: {...pod.metadata, name: 'other', uid: 'u2'}};
  for (const made of [pod, other]) {
    await files.makePodDirs(made);
    const {volumes} = await files.mountVolumes(
      made,
      {objects: NO_OBJECTS, events: () => undefined},
      new AbortController().signal,
    );
    await mkdir(join(volumes.get('v')?.hostPath ?? '', 'deep'));
    const podIps = ['10.88.0.5'];
    const {terminationLogPath} = await files.prepareContainer({
      pod: made,
      container: main,
      podIps,
      subPaths: [],
    });
    await files.createTerminationLog(terminationLogPath);
  }
  await files.removePod(pod);
  expect(await readdir(`${node.rootDir}/pods`)).toEqual(['u2']);
  expect(await readdir(node.podLogsDir)).toEqual(['default_other_u2']);
  expect((await readdir(`${node.rootDir}/pods/u2`)).sort()).toEqual([
    'containers',
    'etc-hosts',
    'plugins',
    'volumes',
  ]);
});

test.each(['removeVolumes', 'removePod'] as const)(
  '%s of another object lets volumes be set up again',
  async (remove) => {
    const {node} = await aNode();
    const mounted: MountedPodVolumes = new Map();
    const createFiles = () => new NodePodFilesystem(node, () => 0, systemClock, {mounted});
    const pod = aMountingPod();
    const files = createFiles();
    const context = {objects: NO_OBJECTS, events: () => undefined};
    const mount = async () => files.mountVolumes(pod, context, new AbortController().signal);
    await mount();
    await createFiles()[remove](pod);
    const {volumes} = await mount();
    expect((await stat(volumes.get('v')!.hostPath)).isDirectory()).toBe(true);
  },
);

test('removing a pod without files does nothing', async () => {
  const {node, files} = await aNode();
  await files.removePod(aMountingPod());
  await expect(readdir(node.rootDir)).rejects.toThrow('ENOENT');
});

test('the next attempt follows from the logs, and the logs of an attempt can be removed', async () => {
  const {node, files} = await aNode();
  await files.makeLogDirectory(aMountingPod());
  await mkdir(`${node.podLogsDir}/default_web_u1/main`);
  await writeFile(`${node.podLogsDir}/default_web_u1/main/4.log`, '');
  expect(await files.nextLogAttempt(aMountingPod(), 'main')).toBe(5);
  await files.removeContainerLogs(aMountingPod(), {id: containerId('c4'), name: 'main', restartCount: 4});
  expect(await files.nextLogAttempt(aMountingPod(), 'main')).toBe(0);
});
