import {expect, test} from 'vitest';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import {podUid} from '../../../../src/cri/index.js';
import {
  formatPodResourceCheckpoint,
  parsePodResourceCheckpoint,
  type PodResourceMap,
} from '../../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';

type Entry = readonly [
  uid: string,
  containers: Readonly<Record<string, ResourceRequirements>>,
  pod?: ResourceRequirements,
];

const resourcesOf = (...entries: readonly Entry[]): PodResourceMap =>
  new Map(
    entries.map(([uid, containers, pod]) => [
      podUid(uid),
      {pod, containers: new Map(Object.entries(containers))},
    ]),
  );

/** Resources, and the text that kubelet 1.36.2 writes of them (state.NewStateCheckpoint, SetPodResourceInfo). */
const CASES: readonly (readonly [string, PodResourceMap, string])[] = [
  [
    'keys are sorted as text, quantities are canonical, and empty lists are omitted',
    resourcesOf(
      [
        'b-uid',
        {
          web: {
            requests: {memory: '64Mi', cpu: '0.1'},
            limits: {memory: '134217728', cpu: '200m'},
          },
          10: {},
          9: {limits: {}},
        },
      ],
      [
        'a-uid',
        {
          main: {
            claims: [{name: 'gpu', request: 'one'}, {name: 'net'}],
            requests: {
              'ephemeral-storage': '1.5Gi',
              'example.com/gpu': '1e3',
              'hugepages-2Mi': '4Mi',
              cpu: '1500m',
              memory: '1000',
            },
          },
        },
        {limits: {cpu: '2', memory: '1024Mi'}, requests: {cpu: '2000m'}},
      ],
    ),
    String.raw`{"data":"{\"entries\":{\"a-uid\":{\"ContainerResources\":{\"main\":{\"requests\":{\"cpu\":\"1500m\",\"ephemeral-storage\":\"1536Mi\",\"example.com/gpu\":\"1e3\",\"hugepages-2Mi\":\"4Mi\",\"memory\":\"1k\"},\"claims\":[{\"name\":\"gpu\",\"request\":\"one\"},{\"name\":\"net\"}]}},\"PodLevelResources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"2\"}}},\"b-uid\":{\"ContainerResources\":{\"10\":{},\"9\":{},\"web\":{\"limits\":{\"cpu\":\"200m\",\"memory\":\"134217728\"},\"requests\":{\"cpu\":\"100m\",\"memory\":\"64Mi\"}}},\"PodLevelResources\":null}}}","checksum":3869300340}`,
  ],
  [
    'numeric UIDs are sorted as text, and zeros stay',
    resourcesOf(['9', {c: {limits: {cpu: '0', memory: '0'}}}, {}], ['10', {}]),
    String.raw`{"data":"{\"entries\":{\"10\":{\"ContainerResources\":{},\"PodLevelResources\":null},\"9\":{\"ContainerResources\":{\"c\":{\"limits\":{\"cpu\":\"0\",\"memory\":\"0\"}}},\"PodLevelResources\":{}}}}","checksum":3715935804}`,
  ],
  [
    'characters are escaped as in Go',
    resourcesOf(['a<b>&"é', {c: {requests: {cpu: '0.5m'}}}]),
    String.raw`{"data":"{\"entries\":{\"a\\u003cb\\u003e\\u0026\\\"é\":{\"ContainerResources\":{\"c\":{\"requests\":{\"cpu\":\"500u\"}}},\"PodLevelResources\":null}}}","checksum":2841925087}`,
  ],
  ['without pods there are no entries', new Map(), String.raw`{"data":"{}","checksum":694314937}`],
];

test.each(CASES)('%s', (_name, resources, text) => {
  expect(formatPodResourceCheckpoint(resources)).toBe(text);
  const parsed = parsePodResourceCheckpoint(text);
  expect(parsed?.size).toBe(resources.size);
  expect(formatPodResourceCheckpoint(parsed!)).toBe(text);
});

test('a file of a kubelet before 1.35, which has no pod-level resources, is read', () => {
  const text = String.raw`{"data":"{\"entries\":{\"u\":{\"ContainerResources\":{\"c\":{\"limits\":{\"cpu\":\"1\"}}}}}}","checksum":3934106360}`;
  expect(parsePodResourceCheckpoint(text)).toEqual(resourcesOf(['u', {c: {limits: {cpu: '1'}}}]));
});

const [[, , VALID]] = CASES as [(typeof CASES)[number]];

test.each([
  ['an empty file', ''],
  ['a torn file', VALID.slice(0, -20)],
  ['a changed digit', VALID.replace('1500m', '1600m')],
  ['another checksum', VALID.replace('3869300340', '3869300341')],
  ['the state of the CPU manager', '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'],
  ['a list', '[]'],
  ['bytes that are not JSON', '\u0000\u0001'],
])('%s is not a checkpoint', (_name, text) => {
  expect(parsePodResourceCheckpoint(text)).toBeUndefined();
});
