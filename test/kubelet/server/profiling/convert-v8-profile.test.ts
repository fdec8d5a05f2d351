import type {HeapProfiler, Profiler} from 'node:inspector';
import {expect, test} from 'vitest';
import {
  convertCpuProfile,
  convertHeapProfile,
  countNames,
} from '../../../../src/kubelet/server/profiling/convert-v8-profile.js';
import {encodePprof, formatPprof} from '../../../../src/kubelet/server/profiling/pprof-profile.js';
import {readPprof} from './read-pprof.js';

const TIME = {timeMs: 1_795_878_785_082, durationMs: 1500};

const frame = (functionName: string, lineNumber = -1, url = '') => ({
  ...{functionName, lineNumber, url, scriptId: '1', columnNumber: 0},
});

/** main (line 10) calls work (line 20), which is sampled in lines 21 and 22; the process also waits and collects garbage. */
const CPU: Profiler.Profile = {
  nodes: [
    {id: 1, callFrame: frame('(root)'), hitCount: 0, children: [2, 4, 5]},
    {id: 2, callFrame: frame('', 9, 'file:///opt/kc%20ri/main.js'), hitCount: 0, children: [3]},
    {
      id: 3,
      callFrame: frame('work', 19, 'node:fs'),
      hitCount: 6,
      positionTicks: [
        {line: 21, ticks: 3},
        {line: 22, ticks: 2},
      ],
    },
    {id: 4, callFrame: frame('(idle)'), hitCount: 100},
    {id: 5, callFrame: frame('(garbage collector)'), hitCount: 4},
  ],
  startTime: 0,
  endTime: 1_500_000,
  // The first one, and one after a wait, are no distance of two samples.
  timeDeltas: [300_000, 10_000, 10_000, 9000, 500_000, 10_000, 11_000],
};

test('a CPU profile becomes samples and CPU time per stack, without the time of waiting', () => {
  expect(readPprof(encodePprof(convertCpuProfile(CPU, TIME)))).toEqual({
    sampleTypes: ['samples/count', 'cpu/nanoseconds'],
    samples: [
      {stack: ['work node:fs:21', '(anonymous) /opt/kc ri/main.js:10'], values: [3, 30_000_000]},
      {stack: ['work node:fs:22', '(anonymous) /opt/kc ri/main.js:10'], values: [2, 20_000_000]},
      {stack: ['work node:fs:20', '(anonymous) /opt/kc ri/main.js:10'], values: [1, 10_000_000]},
      {stack: ['(garbage collector) :0'], values: [4, 40_000_000]},
    ],
    startLines: {work: 20, '(anonymous)': 10, '(garbage collector)': 0},
    timeNanos: 1_795_878_785_082_000_000,
    durationNanos: 1_500_000_000,
    periodType: 'cpu/nanoseconds',
    period: 10_000_000,
    comments: [],
  });
});

test('a CPU profile without samples is a profile without samples', () => {
  const profile = {nodes: [{id: 1, callFrame: frame('(root)'), hitCount: 0}], startTime: 0, endTime: 0};
  expect(readPprof(encodePprof(convertCpuProfile(profile, TIME)))).toMatchObject({samples: [], period: 0});
});

const HEAP: HeapProfiler.SamplingHeapProfile = {
  head: {
    ...{callFrame: frame('(root)'), selfSize: 100},
    children: [
      {
        ...{callFrame: frame('outer', 4, 'file:///a.js'), selfSize: 0},
        children: [{callFrame: frame('inner', 0, 'file:///a.js'), selfSize: 6e9, children: []}],
      },
    ],
  },
};

test('a heap profile becomes bytes per stack', () => {
  const profile = convertHeapProfile(HEAP, 'inuse_space', {...TIME, intervalBytes: 524_288});
  expect(readPprof(encodePprof({...profile, comment: 'rss 5'}))).toMatchObject({
    sampleTypes: ['inuse_space/bytes'],
    samples: [
      {stack: [], values: [100]},
      {stack: ['inner /a.js:1', 'outer /a.js:5'], values: [6e9]},
    ],
    periodType: 'space/bytes',
    period: 524_288,
    comments: ['rss 5'],
  });
});

test('a heap profile is readable as text, the largest stack first', () => {
  const profile = convertHeapProfile(HEAP, 'alloc_space', {...TIME, intervalBytes: 524_288});
  expect(formatPprof('allocs', profile)).toBe(
    'allocs profile: total 6000000100 (alloc_space/bytes)\n6000000000 @\n#\tinner\t/a.js:1\n#\touter\t/a.js:5\n\n100 @\n\n',
  );
});

test('names become a profile that counts them', () => {
  const profile = countNames('goroutine', ['Timeout', 'TCPSocketWrap', 'Timeout'], TIME.timeMs);
  expect(readPprof(encodePprof(profile))).toMatchObject({
    sampleTypes: ['goroutine/count'],
    samples: [
      {stack: ['Timeout :0'], values: [2]},
      {stack: ['TCPSocketWrap :0'], values: [1]},
    ],
  });
  expect(formatPprof('goroutine', profile)).toBe(
    'goroutine profile: total 3 (goroutine/count)\n2 @\n#\tTimeout\n\n1 @\n#\tTCPSocketWrap\n\n',
  );
});
