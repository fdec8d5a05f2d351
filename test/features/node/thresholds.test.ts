import {expect, test} from 'vitest';
import {thresholdSection} from '../../../src/features/node/describe-thresholds.js';
import {reportThresholds} from '../../../src/kubelet/pods/eviction/threshold-report.js';
import {parseEvictionSettings} from '../../../src/kubelet/resources/eviction-thresholds.js';

const MIB = 2n ** 20n;

test('eviction thresholds are described with their current values', () => {
  const {thresholds} = parseEvictionSettings({
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '12.5%',
      'nodefs.inodesFree': '5%',
      'pid.available': '10%',
    },
    evictionSoft: {'memory.available': '4Gi'},
    evictionSoftGracePeriod: {'memory.available': '1m30s'},
    evictionMinimumReclaim: {},
    evictionPressureTransitionPeriod: '5m',
    evictionMaxPodGracePeriod: 0,
    mergeDefaultEvictionSettings: false,
    enforceNodeAllocatable: [],
  });
  const observations = new Map([
    ['memory.available', {available: 3072n * MIB, capacity: 8192n * MIB}],
    ['nodefs.inodesFree', {available: 1_000_000n, capacity: 4_000_000n}],
    ['pid.available', {available: 32_000n, capacity: 32_768n}],
  ] as const);
  const report = reportThresholds(thresholds, observations, ({gracePeriodMs}) => gracePeriodMs > 0);
  expect(thresholdSection(JSON.parse(JSON.stringify(report)) as typeof report)).toBe(`Eviction Thresholds:
  Signal             Kind        Threshold  Available      Met
  ------             ----        ---------  ---------      ---
  memory.available   hard        100Mi      3072Mi (37%)   no
  nodefs.available   hard        12.5%      <unknown>      no
  nodefs.inodesFree  hard        5%         1000000 (25%)  no
  pid.available      hard        10%        32000 (97%)    no
  memory.available   soft (90s)  4Gi        3072Mi (37%)   yes
`);
});

test('without thresholds there is no section about them', () => {
  expect(thresholdSection([])).toBe('');
  expect(thresholdSection(undefined)).toBe('');
});
