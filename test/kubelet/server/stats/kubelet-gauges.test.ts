import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {podUid} from '../../../../src/cri/index.js';
import type {WorkerSummary} from '../../../../src/kubelet/contract/pod-worker-summary.js';
import {collectKubeletGauges} from '../../../../src/kubelet/server/stats/kubelet-gauges.js';
import type {ServedKubelet} from '../../../../src/kubelet/server/served-kubelet.js';
import {aPod} from '../../../fakes/a-pod.js';

const pod = (uid: string, source: string): Pod =>
  aPod({}, {name: uid, namespace: 'team', uid, annotations: {'kubernetes.io/config.source': source}});

function kubelet(pods: readonly Pod[], workers: readonly WorkerSummary[]): ServedKubelet {
  return {
    pods: () => pods,
    runningPods: () => [],
    runtimeStatus: () => {
      throw new Error('not found');
    },
    isActive: () => true,
    volumes: () => [],
    workers: () => workers,
    healthChecks: [],
    lastActiveAt: 0,
  };
}

// Proves: ObjectMeta.uid
test('workers are counted by lifecycle, and by whether their pods are desired and static', () => {
  const [desiredStatic, desiredApi, orphan] = [pod('a', 'file'), pod('b', 'api'), pod('c', 'file')];
  const workers: readonly WorkerSummary[] = [
    {uid: podUid('a'), lifecycle: 'sync', pod: desiredStatic},
    {uid: podUid('b'), lifecycle: 'terminating', pod: desiredApi},
    {uid: podUid('c'), lifecycle: 'terminated', pod: orphan},
    {uid: podUid('d'), lifecycle: 'terminating', pod: undefined},
  ];
  const families = collectKubeletGauges(kubelet([desiredStatic, desiredApi], workers));
  const working = families.find(({name}) => name === 'kubelet_working_pods')?.samples ?? [];
  expect(working).toHaveLength(15);
  expect(working.filter(({value}) => value > 0)).toEqual([
    {labels: {lifecycle: 'sync', config: 'desired', static: 'true'}, value: 1},
    {labels: {lifecycle: 'terminating', config: 'desired', static: ''}, value: 1},
    {labels: {lifecycle: 'terminating', config: 'runtime_only', static: 'unknown'}, value: 1},
    {labels: {lifecycle: 'terminated', config: 'orphan', static: 'true'}, value: 1},
  ]);
  const desired = families.find(({name}) => name === 'kubelet_desired_pods')?.samples;
  expect(desired).toEqual([
    {labels: {static: ''}, value: 1},
    {labels: {static: 'true'}, value: 1},
  ]);
});
