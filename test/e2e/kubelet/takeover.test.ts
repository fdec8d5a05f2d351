import {readFile, readlink} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId, podUid} from '../../../src/cri/index.js';
import {parsePodResourceCheckpoint} from '../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';
import {until} from '../../base/until.js';
import {listMounts} from '../../faults/end-state.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {leavePod} from '../harness/left-pod.js';
import {aContainer, aManifest, SLEEP_COMMAND} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'takeover-node';
const UID = '2f1d3c0e-7a54-4c1c-9b0e-5a6c1d2e3f40';

describe.each(newestRuntime)('a takeover: $name', (which) => {
  let testbed: KubeletTestbed;
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  test('keeps the container that a kubelet has left, probes it, and leaves everything to the next kubelet', async () => {
    const {runtime, logsDir, cgroupRoot} = testbed.podTestbed;
    const {rootDir, connection} = runtime;
    const left = await leavePod({
      ...{connection, rootDir, logsDir, cgroupRoot, uid: UID},
      ...{name: `web-${NODE}`, command: SLEEP_COMMAND},
    });
    const {directory, memory, downward} = left;
    const before = await testbed.podTestbed.statusOf(containerId(left.containerId));
    const links = [await readlink(join(downward, '..data')), await readlink(join(downward, 'name'))];
    const mounts = listMounts(directory).toSorted();
    const probe = {exec: {command: ['sh', '-c', 'echo probed >> /memory/probed']}, periodSeconds: 1};
    const manifest = aManifest(
      'web',
      {
        hostNetwork: true,
        containers: [
          aContainer('main', {
            livenessProbe: probe,
            volumeMounts: [
              {name: 'memory', mountPath: '/memory'},
              {name: 'info', mountPath: '/info'},
            ],
          }),
        ],
        volumes: [
          {name: 'memory', emptyDir: {medium: 'Memory'}},
          {name: 'info', downwardAPI: {items: [{path: 'name', fieldRef: {fieldPath: 'metadata.name'}}]}},
        ],
      },
      {uid: UID},
    );
    await testbed.put('web', manifest);
    const {kcri} = await testbed.start();
    await kcri.waitForOutput(/"Taking over pod of another kubelet"/);
    await until(async () => (await readFile(join(memory, 'probed'), 'utf8').catch(() => '')) !== '');
    const {containers} = await testbed.podTestbed.pod(`web-${NODE}`);
    expect(containers.map(({id}) => id)).toEqual([left.containerId]);
    const {stdout} = await runtime.kcri(['get', 'pods', '-o', 'json']);
    expect(stdout).toContain(`containerd://${left.containerId}`);
    kcri.kill('SIGTERM');
    await kcri.exited;

    const after = await testbed.podTestbed.statusOf(containerId(left.containerId));
    expect(after).toMatchObject({state: 'CONTAINER_RUNNING', startedAt: before.startedAt});
    expect(await readFile(join(memory, 'data'), 'utf8')).toBe('kept');
    expect([await readlink(join(downward, '..data')), await readlink(join(downward, 'name'))]).toEqual(links);
    expect(listMounts(directory).toSorted()).toEqual(mounts);
    for (const file of ['allocated_pods_state', 'actuated_pods_state']) {
      const stored = parsePodResourceCheckpoint(await readFile(join(rootDir, file), 'utf8'));
      expect([...(stored?.keys() ?? [])]).toEqual([podUid(UID)]);
    }
  });
});
