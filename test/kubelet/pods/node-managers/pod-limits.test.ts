import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {omit} from '../../../../src/base/omit.js';
import {systemClock} from '../../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import type {NodeManager} from '../../../../src/kubelet/contract/node-manager.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {openPodRegistry} from '../../../../src/kubelet/pods/registry/open-pod-registry.js';
import {SILENT_OBSERVER} from '../../../../src/kubelet/pods/registry/pod-registry-options.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const WITHOUT_QUOTA: NodeManager = {name: 'cpu', podLimits: (_pod, limits) => omit(limits, 'cpuQuota')};
const RESOURCES = {limits: {cpu: '2', memory: '64Mi'}};

/** Returns an ordinary directory in place of the unified hierarchy. */
async function aHierarchy(): Promise<string> {
  const mount = await temporaryDirectory();
  await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory pids hugetlb');
  await writeFile(join(mount, 'cgroup.subtree_control'), '');
  return mount;
}

test.each([
  ['has the quota of its limits', [], '200000 100000'],
  ['has no quota if a manager of the node takes it away', [WITHOUT_QUOTA], ''],
] as const)('the cgroup of a new pod %s', async (_title, managers, quota) => {
  const {runtime, connection: services, node: facts} = await startRegistryTestbed();
  const cgroupMount = await aHierarchy();
  const node = {...facts, cgroupMount, cgroup: {...facts.cgroup, version: 2}} as const;
  const registry = openPodRegistry(
    {services, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock, node},
    SILENT_OBSERVER,
    NO_OBJECTS,
    {nodeManagers: new NodeManagerSet(managers)},
  );
  const pod = aLocalPod({containers: [{name: 'main', image: 'busybox:1', resources: RESOURCES}]});
  await mkdir(node.rootDir, {recursive: true});
  await syncOnce(registry.createSyncer(pod), new AbortController().signal);
  const cgroup = join(cgroupMount, 'kubepods', `pod${podRef(pod).uid}`);
  expect(await readFile(join(cgroup, 'memory.max'), 'utf8')).toBe('67108864');
  expect(await readFile(join(cgroup, 'cpu.max'), 'utf8').catch(() => '')).toBe(quota);
});
