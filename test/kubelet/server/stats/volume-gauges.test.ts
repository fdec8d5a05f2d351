import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {podUid} from '../../../../src/cri/index.js';
import type {PodVolumeState} from '../../../../src/kubelet/contract/volumes/pod-volume-state.js';
import {collectVolumeCounts} from '../../../../src/kubelet/server/stats/volume-gauges.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod} from '../../../fakes/a-pod.js';
import {parseScrape} from '../../managers/metrics/parse-exposition.js';
import {startServerTestbed} from '../server-testbed.js';

function aVolume(name: string, fields: Partial<PodVolumeState> = {}): PodVolumeState {
  const plugin = 'kubernetes.io/empty-dir';
  return {name, plugin, path: `/${name}`, claim: undefined, isMounted: true, ...fields};
}

test('volumes are counted by plugin: those of active pods, and those that are mounted until their pod has stopped', () => {
  const [active, ended, removed] = ['a', 'b', 'c'].map((uid) => aPod({}, {uid, name: uid}));
  const volumes: Record<string, readonly PodVolumeState[]> = {
    a: [aVolume('x'), aVolume('y', {isMounted: false}), aVolume('z', {plugin: undefined, isMounted: false})],
    b: [aVolume('x', {isMounted: false})],
    c: [aVolume('x', {plugin: 'kubernetes.io/nfs'})],
  };
  const {samples} = collectVolumeCounts({
    pods: () => [active!, ended!],
    isActive: (uid) => uid === 'a',
    workers: () =>
      [active, ended, removed].map((pod) => ({
        ...{uid: podUid(pod!.metadata.uid ?? ''), lifecycle: 'sync', pod},
      })),
    volumes: ({metadata}) => volumes[metadata.uid ?? ''] ?? [],
  });
  expect(samples.map(({labels, value}) => ({...labels, value}))).toEqual([
    {state: 'actual_state_of_world', plugin_name: 'kubernetes.io/empty-dir', value: 1},
    {state: 'actual_state_of_world', plugin_name: 'kubernetes.io/nfs', value: 1},
    {state: 'desired_state_of_world', plugin_name: 'kubernetes.io/empty-dir', value: 2},
    {state: 'desired_state_of_world', plugin_name: 'N/A', value: 1},
  ]);
});

describe('the volume of a claim', () => {
  async function testbedWithClaim(plugin: string, isMounted = true) {
    const path = await temporaryDirectory();
    await mkdir(join(path, 'sub'));
    await writeFile(join(path, 'sub', 'file'), 'x'.repeat(10_000));
    const testbed = await startServerTestbed();
    testbed.kubelet.volumes = () => [aVolume('data', {plugin, path, claim: 'my-claim', isMounted})];
    const families = parseScrape(await testbed.request('/metrics'));
    const stats = families.filter(({name}) => name.startsWith('kubelet_volume_stats_'));
    const summary = JSON.parse((await testbed.request('/stats/summary')).body) as {
      readonly pods: readonly {readonly volume?: readonly object[]}[];
    };
    return {stats, volumes: summary.pods[0]?.volume};
  }

  test.each(['kcri/claim-directory', 'kubernetes.io/local-volume', 'kubernetes.io/nfs'])(
    'of %s is measured in metrics and summary',
    async (plugin) => {
      const {stats, volumes} = await testbedWithClaim(plugin);
      const names = [
        'available_bytes',
        'capacity_bytes',
        'inodes',
        'inodes_free',
        'inodes_used',
        'used_bytes',
      ];
      expect(stats.map(({name}) => name)).toEqual(names.map((name) => `kubelet_volume_stats_${name}`));
      for (const {type, samples} of stats)
        expect([type, samples]).toMatchObject([
          'gauge',
          [{labels: {namespace: 'team', persistentvolumeclaim: 'my-claim'}}],
        ]);
      const valueOf = (name: string): number =>
        stats.find((each) => each.name.endsWith(`_${name}`))?.samples[0]?.value ?? 0;
      expect(valueOf('used_bytes')).toBeGreaterThanOrEqual(10_000);
      expect(valueOf('capacity_bytes')).toBeGreaterThan(valueOf('used_bytes'));
      if (plugin === 'kcri/claim-directory') expect(valueOf('inodes_used')).toBe(3);
      const pvcRef = {name: 'my-claim', namespace: 'team'};
      expect(volumes).toMatchObject([{name: 'data', pvcRef, usedBytes: valueOf('used_bytes')}]);
    },
  );

  test('of a hostPath, or that is not mounted, is not measured', async () => {
    expect(await testbedWithClaim('kubernetes.io/host-path')).toEqual({stats: [], volumes: undefined});
    expect(await testbedWithClaim('kubernetes.io/nfs', false)).toEqual({stats: [], volumes: undefined});
  });
});

test('the version is that of Kubernetes, with empty labels for what kcri does not have', async () => {
  const families = parseScrape(await (await startServerTestbed()).request('/metrics'));
  const [info] = families.find(({name}) => name === 'kubernetes_build_info')?.samples ?? [];
  expect(info).toMatchObject({
    value: 1,
    labels: {major: '1', git_version: expect.stringMatching(/^v1\.\d+\.\d+\+kcri\.1\.2\.3$/) as string},
  });
  expect(info?.labels).toMatchObject({go_version: '', compiler: '', git_commit: ''});
});
