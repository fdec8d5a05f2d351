import {describe, expect, test} from 'vitest';
import {kubeletSection} from '../../../src/features/node/describe-kubelet.js';
import {podUid} from '../../../src/cri/index.js';
import type {KubeletPodReport, KubeletReport, ProbeReport} from '../../../src/kubelet/index.js';

const NOW = Date.parse('2026-05-01T12:10:00Z');
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

const REPORT: KubeletReport = {
  pid: 7,
  startedAt: at(-90),
  now: at(0),
  endpoint: 'unix:///r.sock',
  urls: {},
  lastActiveAt: at(-1),
  errors: [],
  pleg: {mode: 'events', relistedAt: at(-12)},
  wantedPods: 1,
  pods: [],
};
const POD: KubeletPodReport = {
  uid: podUid('u1'),
  namespace: 'default',
  name: 'web',
  source: '/m/web.yaml',
  worker: {state: 'sync', isWorking: false, lastSyncAt: at(-3), nextSyncAt: at(57)},
  containers: [],
};

const linesOf = (pod: Partial<KubeletPodReport>, report: Partial<KubeletReport> = {}): readonly string[] =>
  kubeletSection({...REPORT, ...report}, {...POD, ...pod})
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' '));

test('the section of an idle pod', () => {
  expect(kubeletSection(REPORT, POD)).toBe(`Kubelet:
  PID:        7 (up 90s)
  Runtime:    evented PLEG, last relist 12s ago
  Source:     /m/web.yaml
  Worker:     idle
  Last Sync:  3s ago
  Next Sync:  in 57s
`);
});

test('a kubelet that cannot sync, and has not reached its runtime yet', () => {
  const lines = linesOf({}, {errors: ['container runtime is down'], pleg: {mode: 'relists'}});
  expect(lines).toContain('Not Syncing: container runtime is down');
  expect(lines).toContain('Runtime: generic PLEG, no relist yet');
});

test.each<[KubeletPodReport['worker'], string]>([
  [{state: 'none', isWorking: false}, 'not started'],
  [{state: 'rejected', isWorking: false}, 'none, the pod was rejected by admission'],
  [{state: 'sync', isWorking: true}, 'syncing'],
  [
    {state: 'sync', isWorking: false, waitsFor: 'turn'},
    'idle, waiting for another pod with the same name to terminate',
  ],
  [
    {state: 'sync', isWorking: true, waitsFor: 'status'},
    'syncing, waiting for the runtime status of the pod',
  ],
  [
    {state: 'terminating', isWorking: true, terminatingAt: at(-4), gracePeriodSeconds: 30},
    'terminating for 4s, grace period 30s',
  ],
  [{state: 'terminated', isWorking: true, terminatingAt: at(-4)}, 'terminated, cleaning up'],
  [{state: 'finished', isWorking: false, terminatingAt: at(-4)}, 'finished'],
])('the state of a worker %j', (worker, text) => {
  expect(linesOf({worker})).toContain(`Worker: ${text}`);
});

test('a pod without a source whose last sync failed', () => {
  const {source, ...withoutSource} = POD;
  expect(source).toBeDefined();
  const worker = {state: 'sync', isWorking: false, error: 'no such image', nextSyncAt: at(-1)} as const;
  const text = kubeletSection(REPORT, {...withoutSource, worker});
  expect(text).toMatch(/Source: +<none>\n/);
  expect(text).toMatch(/Last Sync: +none yet\n +Last Error: +no such image\n +Next Sync: +now\n/);
});

test('back-offs', () => {
  const containers = [
    {name: 'a', backOff: {reason: 'CrashLoopBackOff', until: at(12.3), seconds: 40}, probes: []},
    {name: 'b', backOff: {reason: 'ImagePullBackOff', until: at(-1)}, probes: []},
  ];
  const lines = linesOf({containers});
  expect(lines).toContain('Back-off: CrashLoopBackOff, next start in 13s (back-off 40s)');
  expect(lines).toContain('Back-off: ImagePullBackOff, next start now');
});

describe('probes', () => {
  const last = {at: at(-2), result: 'Failure', output: 'no\n"connection"\u001b[2J'} as const;
  test.each<[Partial<ProbeReport>, string]>([
    [{}, 'Unknown; next now'],
    [{nextAt: at(7)}, 'Unknown; next in 7s'],
    [{waitsFor: 'its time', nextAt: at(7)}, 'Unknown; not due yet'],
    [
      {counts: 'Success', last, inARow: 2, threshold: 3, nextAt: at(7)},
      'Success; last Failure 2s ago, 2 of 3 in a row; next in 7s',
    ],
    [
      {counts: 'Failure', last, inARow: 5, threshold: 3, nextAt: at(7)},
      'Failure; last Failure 2s ago, 5 in a row; next in 7s',
    ],
    [
      {counts: 'Failure', last, waitsFor: 'another instance', nextAt: at(7)},
      'Failure; last Failure 2s ago; next after the container restarts',
    ],
  ])('%j', (probe, text) => {
    const probes = [{kind: 'liveness', inARow: 0, threshold: 1, ...probe}] as const;
    const lines = linesOf({containers: [{name: 'main', probes}]});
    expect(lines).toContain(`Liveness: ${text}`);
    expect(lines.filter((line) => line.startsWith('Output:'))).toEqual(
      probe.last === undefined ? [] : ['Output: "no\\n\\"connection\\"\\x1b[2J"'],
    );
  });

  test("are in kubectl's order", () => {
    const probe = {inARow: 0, threshold: 1};
    const probes = (['startup', 'readiness', 'liveness'] as const).map((kind) => ({kind, ...probe}));
    const lines = linesOf({containers: [{name: 'main', probes}]});
    expect(lines.slice(-4, -1).map((line) => line.split(':')[0])).toEqual([
      'Liveness',
      'Readiness',
      'Startup',
    ]);
  });
});
