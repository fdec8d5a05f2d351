import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import {aContainer, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'shown';

describe.each(newestRuntime)('kubectl shows a node and its pods: $name', (which) => {
  let cluster: JoinedNode;
  const output = async (...args: readonly string[]): Promise<string> => await cluster.kubectl.output(...args);

  beforeAll(async () => {
    cluster = await startJoinedNode(which, NODE);
    cluster.createPod('web', {
      containers: [
        aContainer('main', {resources: {requests: {cpu: '100m', memory: '16Mi'}}}),
        aContainer('side'),
      ],
    });
    cluster.createPod('job', {
      restartPolicy: 'Never',
      containers: [aContainer('main', {command: shellCommand('exit 3')})],
    });
    cluster.createPod('broken', {
      containers: [aContainer('main', {image: 'localhost:1/nosuch:1', imagePullPolicy: 'Never'})],
    });
    await cluster.untilReady('web');
    await cluster.untilPhase('job', 'Failed');
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test('get nodes -o wide', async () => {
    const [header, line = ''] = (await output('get', 'nodes', '-o', 'wide')).split('\n');
    expect(header).toMatch(
      /^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME$/,
    );
    expect(line).toMatch(/^shown +Ready +<none> +\S+ +v1\.36\.\S+ +\S+ +<none> +\S.* +containerd:\/\/\S+$/);
  });

  test('get pods -o wide', async () => {
    await until(async () => (await output('get', 'pod', 'broken')).includes('ErrImageNeverPull'));
    const lines = (await output('get', 'pods', '-o', 'wide')).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE$/),
      expect.stringMatching(/^web +2\/2 +Running +0 +\S+ +10\.\S+ +shown$/),
      expect.stringMatching(/^job +0\/1 +Error +0 +\S+ +10\.\S+ +shown$/),
      expect.stringMatching(/^broken +0\/1 +ErrImageNeverPull +0 +\S+ +10\.\S+ +shown$/),
    ]);
  });

  test('describe pod', async () => {
    const text = await output('describe', 'pod', 'web');
    expect(text).toMatch(/^Node: +shown\/\S+$/m);
    expect(text).toMatch(/^Status: +Running$/m);
    expect(text).toMatch(/^ {4}Container ID: +containerd:\/\/[0-9a-f]{64}$/m);
    for (const reason of ['Pulled', 'Created', 'Started'])
      expect(text).toMatch(new RegExp(`^ +Normal +${reason} +\\S+ +kubelet +\\S`, 'm'));
  });

  test('describe node', async () => {
    const describe = (): Promise<string> => output('describe', 'node', NODE);
    await until(async () => /HolderIdentity[^]* NodeReady /.test(await describe()));
    const text = await describe();
    expect(text).toMatch(/^ +HolderIdentity: +shown$/m);
    expect(text).toMatch(/^ +Ready +True +.* KubeletReady +kubelet is posting ready status$/m);
    expect(text).toMatch(/^ +pods: +110$/m);
    expect(text).toMatch(/^ +Container Runtime Version: +containerd:\/\/\S+$/m);
    expect(text).toMatch(/^ +default +web +100m \(\d+%\) +0 \(0%\) +16Mi \(\d+%\)/m);
    expect(text).not.toMatch(/^ +default +job /m);
    expect(text).toMatch(/^ +Normal +NodeReady +\S.* kubelet +Node shown status is now: NodeReady$/m);
  });

  test('events of a pod', async () => {
    await until(async () => (await output('events', '--for', 'pod/broken')).includes('ErrImageNeverPull'));
    expect(await output('events', '--for', 'pod/web', '--types', 'Warning')).not.toContain('Started');
  });

  test('wait', async () => {
    await expect(output('wait', '--for=condition=Ready', 'pod/web')).resolves.toBe('pod/web condition met');
    const failed = 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}=3';
    await expect(output('wait', `--for=${failed}`, 'pod/job')).resolves.toBe('pod/job condition met');
    const gone = cluster.kubectl.start(['wait', '--for=delete', 'pod/broken']);
    await output('delete', 'pod', 'broken', '--wait=false');
    expect(await gone.exited).toMatchObject({exitCode: 0});
    expect(cluster.api.pod('broken')).toBeUndefined();
  });

  test('top', async () => {
    const cells = /\d+m +(\d+% +)?\d+Mi/;
    const top = async (...args: readonly string[]): Promise<string> =>
      (await cluster.kubectl.run(['top', ...args, '--no-headers'])).stdout;
    await until(async () => (await top('pod', 'web', '--containers')).includes('side'));
    expect(await top('pod', 'web', '--containers')).toMatch(new RegExp(`web +main +${cells.source}`));
    expect(await top('node')).toMatch(new RegExp(`^shown +${cells.source}`));
  });
});
