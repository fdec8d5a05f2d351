import {writeFile} from 'node:fs/promises';
import {cpus} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {takeoverKind} from '../../../src/features/kubelet/kubelet-defaults.js';
import {runKcri} from '../../cli/run-kcri.js';
import {BUSYBOX} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {
  leaveCluster,
  leaveNode,
  manifest,
  plan,
  takeoverOf,
  verdicts,
  writeKubeconfig,
  type Takeover,
} from './takeover-testbed.js';

describe('a takeover shows', () => {
  test('pods that a critical pod preempts', async () => {
    const testbed = await leaveCluster();
    const half = {
      containers: [{name: 'main', image: BUSYBOX, resources: {requests: {cpu: cpus().length / 2}}}],
    };
    const most = {cpu: `${cpus().length * 900}m`};
    testbed.createPod('low', half, {creationTimestamp: '2026-01-01T00:00:00Z'});
    testbed.createPod(
      'critical',
      {priority: 2_000_001_000, containers: [{name: 'main', image: BUSYBOX, resources: {requests: most}}]},
      {creationTimestamp: '2026-01-02T00:00:00Z'},
    );
    const file = await writeKubeconfig(testbed, testbed.api.url);
    const takeover = await takeoverOf(testbed.daemon, 1, '--kubeconfig', file);
    expect(verdicts(takeover)).toEqual(['low preempted', 'critical started', 'foreign leftAlone']);
    expect(takeover.pods[0]?.reasons).toEqual(['the critical pod default/critical needs what it requests']);
  });

  test('the shortage of a node, and the pod that is evicted first', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    expect((await takeoverOf(testbed, 0)).eviction).toBeUndefined();
    // Static pods are critical, and never evicted.
    const flag = '--eviction-hard=memory.available<99.9%';
    expect((await takeoverOf(testbed, 1, flag)).eviction).toEqual({resource: 'memory'});
    const cluster = await leaveCluster('first');
    const kubeconfig = ['--kubeconfig', await writeKubeconfig(cluster, cluster.api.url)];
    const {eviction} = await takeoverOf(cluster.daemon, 1, flag, ...kubeconfig);
    expect(eviction).toMatchObject({resource: 'memory', first: {name: 'first'}});
    expect((await plan(cluster.daemon, flag, ...kubeconfig)).stdout).toContain(
      '\nthe node lacks memory, so that a kubelet evicts pods, default/first first\n',
    );
  });

  test('met soft thresholds, whose pods are evicted only if the shortage lasts', async () => {
    const cluster = await leaveCluster('first');
    const kubeconfig = ['--kubeconfig', await writeKubeconfig(cluster, cluster.api.url)];
    const soft = (memory: string, grace: string): readonly string[] => [
      ...['--eviction-hard', 'memory.available<1', '--eviction-soft', `memory.available<${memory}`],
      ...['--eviction-soft-grace-period', `memory.available=${grace}`, ...kubeconfig],
    ];
    expect(await takeoverOf(cluster.daemon, 0, ...soft('2', '90s'))).not.toHaveProperty('softEvictions');

    const {eviction, softEvictions} = await takeoverOf(cluster.daemon, 1, ...soft('99.9%', '90s'));
    expect(eviction).toBeUndefined();
    expect(softEvictions).toEqual([
      {
        ...{signal: 'memory.available', gracePeriodSeconds: 90, resource: 'memory'},
        first: expect.objectContaining({name: 'first'}) as unknown,
      },
    ]);
    expect((await plan(cluster.daemon, ...soft('99.9%', '90s'))).stdout).toContain(
      '\nmemory.available is below its soft threshold; if that lasts for 1m30s, a kubelet evicts pods, default/first first\n',
    );
    // What is evicted at once needs no preview of later.
    const both = await takeoverOf(
      cluster.daemon,
      1,
      ...soft('99.9%', '90s'),
      '--eviction-hard=memory.available<99%',
    );
    expect(both.eviction).toMatchObject({resource: 'memory'});
    expect(both.softEvictions).toBeUndefined();
  });

  test('when a crashing container starts again', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')}, async (daemon) => {
      daemon.kill('main', 1);
      await daemon.until('it has restarted', () => daemon.statusOf('web').restarts === 1);
    });
    testbed.kill('main', 1);
    const {pods} = await takeoverOf(testbed, 0);
    expect(pods[0]).toMatchObject({verdict: 'kept'});
    expect(pods[0]?.reasons?.[0]).toMatch(
      /^container main starts again at [\d-]+T[\d:.]+Z, after a back-off of 10s$/,
    );
  });

  test('the pods of workloads, and of Jobs as far as they have come', async () => {
    const template = {spec: {containers: [{name: 'main', image: BUSYBOX}]}};
    const job = {apiVersion: 'batch/v1', kind: 'Job', metadata: {name: 'once'}, spec: {template}};
    const labels = {app: 'web'};
    const deployment = {
      ...{apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}},
      spec: {replicas: 2, selector: {matchLabels: labels}, template: {metadata: {labels}, ...template}},
    };
    const testbed = await leaveNode({});
    await testbed.put('web.yaml', JSON.stringify(deployment));
    const never = {...template, spec: {...template.spec, restartPolicy: 'Never'}};
    await testbed.put('job.yaml', JSON.stringify({...job, spec: {template: never}}));
    const started = (await takeoverOf(testbed, 0)).pods.map(
      ({pod, verdict}) => `${pod.split('-')[0]!} ${verdict}`,
    );
    expect(started.toSorted()).toEqual(['foreign leftAlone', 'once started', 'web started', 'web started']);
    testbed.run();
    await testbed.until('all pods run', () => testbed.view.pods().length === 3);
    await testbed.stop();
    const kept = (await takeoverOf(testbed, 0)).pods.map(
      ({pod, verdict}) => `${pod.split('-')[0]!} ${verdict}`,
    );
    expect(kept.toSorted()).toEqual(['foreign leftAlone', 'once kept', 'web kept', 'web kept']);
  });

  test('that kcri would not start because of swap', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    const swapsFile = join(testbed.directory, 'swaps');
    await writeFile(swapsFile, 'Filename Type Size Used Priority\n/swap file 1 0 -2\n');
    const run = async (...args: readonly string[]): Promise<Takeover> => {
      const flags = ['--hostname-override', GOLDEN_NODE.nodeName, '-o', 'json', ...args];
      const {stdout} = await runKcri(['plan', '--takeover', ...flags], {
        ...{endpoint: testbed.fake.endpoint, clock: testbed.clock, swapsFile},
      });
      return JSON.parse(stdout) as Takeover;
    };
    const own = ['--root-dir', testbed.rootDir];
    expect((await run(...own)).startError).toBeUndefined();
    const {seamless, startError} = await run(...own, '--fail-swap-on');
    expect(startError).toContain('running with swap on is not supported');
    expect(seamless).toBe(false);
    // The default of a kubelet, in its root directory.
    const endpoint = ['--runtime-endpoint', testbed.fake.endpoint];
    expect((await run(...endpoint)).startError).toBe(startError);
    expect((await run(...endpoint, '--fail-swap-on=false')).startError).toBeUndefined();
  });
});

test('the defaults of the name kubelet hold for the root directory of a kubelet', () => {
  expect(takeoverKind('/var/lib/kubelet', false)).toEqual({asKubelet: true, joinsCluster: false});
  expect(takeoverKind('/var/lib/kcri', true)).toEqual({asKubelet: false, joinsCluster: true});
});
