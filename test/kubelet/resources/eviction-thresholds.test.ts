import {describe, expect, test} from 'vitest';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {
  evictionReserve,
  parseEvictionSettings,
  parseThresholds,
  thresholdAmount,
} from '../../../src/kubelet/resources/eviction-thresholds.js';

const GIBIBYTE = 1024n ** 3n;
/** Returns the settings of a configuration with these flags. */
const settingsOf = (flags: Readonly<Record<string, string>> = {}) =>
  parseEvictionSettings(
    readKubeletConfig([], new Map(Object.entries(flags).map(([name, text]) => [name, [text]]))).values,
  );
const signalsOf = (flags: Readonly<Record<string, string>>) =>
  settingsOf(flags).thresholds.map(({signal}) => signal);
const DISK = ['nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'];

test('without settings a kubelet evicts at the default thresholds, and conditions last for five minutes', () => {
  const {thresholds, pressureTransitionMs, maxPodGraceSeconds} = settingsOf();
  expect(thresholds.map(({signal, gracePeriodMs}) => [signal, gracePeriodMs])).toEqual(
    ['memory.available', ...DISK, 'allocatableMemory.available'].map((signal) => [signal, 0]),
  );
  expect([pressureTransitionMs, maxPodGraceSeconds]).toEqual([300_000, 0]);
});

describe('thresholds of flags', () => {
  test('replace the defaults, and only what is enforced applies to the cgroup of all pods', () => {
    const flags = {'eviction-hard': 'memory.available<1Gi', 'enforce-node-allocatable': 'none'};
    expect(signalsOf(flags)).toEqual(['memory.available']);
    expect(signalsOf({'eviction-hard': 'pid.available<10%'})).toEqual(['pid.available']);
  });

  test('are disabled with 0% and 100%', () => {
    const none = 'memory.available<100%,nodefs.available<0%';
    expect(signalsOf({'eviction-hard': none})).toEqual([]);
  });

  test('may be soft, with a grace period and a minimum to reclaim', () => {
    const {thresholds, maxPodGraceSeconds} = settingsOf({
      'eviction-hard': 'nodefs.available<5%',
      'eviction-soft': 'nodefs.available<10%',
      'eviction-soft-grace-period': 'nodefs.available=1m30s',
      'eviction-minimum-reclaim': 'nodefs.available=500Mi',
      'eviction-max-pod-grace-period': '60',
    });
    const minReclaim = {amount: {nanos: 500n * 1024n ** 2n * 1_000_000_000n, format: 'BinarySI'}};
    expect(thresholds).toEqual([
      {signal: 'nodefs.available', value: {share: Math.fround(0.05)}, gracePeriodMs: 0, minReclaim},
      {signal: 'nodefs.available', value: {share: Math.fround(0.1)}, gracePeriodMs: 90_000, minReclaim},
    ]);
    expect(maxPodGraceSeconds).toBe(60);
  });
});

test('thresholds of a configuration can be added to the defaults', () => {
  const values = readKubeletConfig([], new Map()).values;
  const {thresholds} = parseEvictionSettings({
    ...values,
    evictionHard: {'nodefs.available': '1Gi'},
    mergeDefaultEvictionSettings: true,
    enforceNodeAllocatable: [],
  });
  expect(thresholds.map(({signal}) => signal)).toEqual(['memory.available', ...DISK]);
  expect(evictionReserve(thresholds, 'nodefs.available', 100n * GIBIBYTE)).toBe(GIBIBYTE);
});

test.each([
  [
    'eviction-hard',
    'disk.available<1Gi',
    'unsupported eviction signal disk.available; must be one of: memory.available, ',
  ],
  ['eviction-hard', 'memory.available<-1Gi', 'eviction threshold memory.available must be positive: -1Gi'],
  ['eviction-hard', 'memory.available<0', 'eviction threshold memory.available must be positive: 0'],
  ['eviction-hard', 'memory.available<-1%', 'threshold memory.available must be >= 0%: -1%'],
  ['eviction-hard', 'memory.available<101%', 'threshold memory.available must be <= 100%: 101%'],
  ['eviction-hard', 'memory.available<a lot', '"a lot": quantities must match'],
  ['eviction-hard', 'memory.available<x%', '"x%" is not a percentage'],
  ['eviction-soft', 'memory.available<1Gi', 'grace period must be specified for the soft eviction threshold'],
  ['eviction-soft-grace-period', 'memory.available=-1s', 'invalid eviction grace period specified: -1s'],
  ['eviction-soft-grace-period', 'memory.available=1', 'time: missing unit in duration "1"'],
  [
    'eviction-minimum-reclaim',
    'memory.available=0%',
    'minimum reclaim memory.available must be positive: 0%',
  ],
  [
    'eviction-minimum-reclaim',
    'memory.available=-1',
    'negative eviction minimum reclaim specified for memory',
  ],
])('--%s %s is rejected', (flag, text, message) => {
  expect(() => settingsOf({[flag]: text})).toThrow(message);
});

test('a share is that of a 32-bit float, as in a kubelet', () => {
  const [threshold] = parseThresholds({'nodefs.available': '15%'});
  // 400 MiB, as a kubelet prints it.
  expect(thresholdAmount(threshold!.value, 419_430_400n).nanos).toBe(62_914_562n * 1_000_000_000n);
});
