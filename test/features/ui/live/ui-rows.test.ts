import {expect, test} from 'vitest';
import {uiPod} from '../../../../src/features/ui/live/ui-rows.js';
import type {TopItem} from '../../../../src/features/top/model/top-item.js';

const ITEM: TopItem = {
  key: 'pod uid',
  kind: 'pod',
  podKey: 'uid',
  node: undefined,
  isStale: false,
  namespace: 'default',
  pod: 'web',
  name: 'web',
  ready: '1/1',
  state: 'Running',
  restarts: 0,
  probes: '',
  cpuPercent: undefined,
  memoryBytes: undefined,
  startedMs: undefined,
  manager: 'kcri',
  exclusiveCpus: '',
  containerId: undefined,
};
const MORE = {node: 'n', image: () => 'busybox'};

test.each([
  ['Running', '2/2', 'good'],
  ['Running', '1/2', 'busy'],
  ['Completed', '0/1', 'done'],
  ['Succeeded', '0/1', 'done'],
  ['ContainerCreating', '0/1', 'busy'],
  ['PodInitializing', '0/1', 'busy'],
  ['Pending', '0/1', 'busy'],
  ['Terminating', '1/1', 'busy'],
  ['Init:0/2', '0/1', 'busy'],
  ['Init:CrashLoopBackOff', '0/1', 'bad'],
  ['CrashLoopBackOff', '0/1', 'bad'],
  ['ImagePullBackOff', '0/1', 'bad'],
  ['Error', '0/1', 'bad'],
  ['OOMKilled', '0/1', 'bad'],
  ['Evicted', '0/0', 'bad'],
])('a pod that is %s with %s is %s', (state, ready, tone) => {
  expect(uiPod({pod: {...ITEM, state, ready}, containers: []}, MORE).tone).toBe(tone);
});

test('absent values and usage are left out', () => {
  const container: TopItem = {
    ...ITEM,
    ...{key: 'container uid main', kind: 'container', name: 'main', ready: 'no', containerId: '0a'},
    ...{cpuPercent: 12.345678, memoryBytes: 5, startedMs: 7, probes: 'started', exclusiveCpus: '2-3'},
  };
  const pod = uiPod({pod: {...ITEM, isStale: true}, containers: [container]}, {...MORE, why: 'it waits'});
  expect(pod).toEqual({
    ...{key: 'pod uid', name: 'web', state: 'Running', tone: 'good', ready: '1/1', restarts: 0},
    ...{node: 'n', namespace: 'default', uid: 'uid', manager: 'kcri', why: 'it waits', isStale: true},
    containers: [
      {
        ...{
          key: 'container uid main',
          name: 'main',
          state: 'Running',
          tone: 'busy',
          ready: 'no',
          restarts: 0,
        },
        ...{startedMs: 7, image: 'busybox', id: '0a'},
        ...{probes: 'started', exclusiveCpus: '2-3'},
      },
    ],
  });
});

test('texts have no control characters', () => {
  const hostile = 'a\u001b[31m\n\u202eb';
  const item = {...ITEM, name: hostile, namespace: hostile, state: hostile};
  const container: TopItem = {...item, kind: 'container'};
  const pod = uiPod({pod: item, containers: [container]}, {node: 'n', image: () => hostile, why: hostile});
  const texts = [pod.name, pod.namespace, pod.state, pod.why];
  const ofContainer = pod.containers.flatMap(({name, state, image}) => [name, state, image]);
  for (const text of [...texts, ...ofContainer]) expect(text).toBe('a\\x1b[31m\\n\\u202eb');
});
