import {describe, expect, test} from 'vitest';
import {CpuRates} from '../../../../src/kubelet/server/stats/cpu-rates.js';
import {
  parseNetworkInterfaces,
  parsePressure,
  parseMemory,
  readNodeUsage,
} from '../../../../src/kubelet/server/stats/node-usage.js';
import {sumUsage} from '../../../../src/kubelet/server/stats/sum-usage.js';

/** Returns a reading; both arguments are in seconds. */
const at = (time: number, used: number) => ({
  timeNanos: BigInt(time * 1e9),
  usedNanos: BigInt(used * 1e9),
});

describe('the CPU rate', () => {
  test.each<[string, readonly (readonly [number, number])[], bigint | undefined]>([
    ['is unknown after the first reading', [[0, 5]], undefined],
    [
      'is unknown within the first second',
      [
        [0, 5],
        [0.5, 6],
      ],
      undefined,
    ],
    [
      'covers all readings in the first ten seconds',
      [
        [0, 5],
        [2, 6],
        [4, 8],
      ],
      750_000_000n,
    ],
    [
      'covers the last ten seconds or more',
      [
        [0, 0],
        [20, 10],
        [30, 30],
      ],
      2_000_000_000n,
    ],
    [
      'stays the same for ten seconds',
      [
        [0, 0],
        [20, 10],
        [21, 11],
      ],
      500_000_000n,
    ],
    [
      'is reset when the counter restarts',
      [
        [0, 100],
        [20, 110],
        [40, 1],
      ],
      undefined,
    ],
    [
      'is reset when the clock goes back',
      [
        [100, 1],
        [50, 2],
      ],
      undefined,
    ],
  ])('%s', (_title, readings, expected) => {
    const rates = new CpuRates();
    const all = readings.map(([time, used]) => rates.rate('a', at(time, used)));
    expect(all.at(-1)).toBe(expected);
  });

  test('covers the time since the start at first, if that is known', () => {
    const rates = new CpuRates();
    const startedAtNanos = BigInt(100e9);
    const rate = (time: number, used: number) => rates.rate('a', at(time, used), startedAtNanos);
    expect([rate(100.5, 0.1), rate(140, 10), rate(150, 30)]).toEqual([
      undefined,
      250_000_000n,
      2_000_000_000n,
    ]);
  });

  test('is forgotten for keys that are not retained', () => {
    const rates = new CpuRates();
    for (const key of ['a', 'b']) rates.rate(key, at(0, 0));
    rates.retain(new Set(['b']));
    expect(['a', 'b'].map((key) => rates.rate(key, at(10, 5)))).toEqual([undefined, 500_000_000n]);
  });
});

test('the total usage of containers has the newest timestamp and no partial sums', () => {
  const value = (number: number) => ({value: BigInt(number)});
  const one = {
    cpu: {timestamp: 5n, usageCoreNanoSeconds: value(100), usageNanoCores: value(7)},
    memory: {timestamp: 5n, workingSetBytes: value(30)},
    swap: {timestamp: 5n, swapUsageBytes: value(2)},
  };
  const other = {
    cpu: {timestamp: 9n, usageCoreNanoSeconds: value(11)},
    memory: {timestamp: 4n, workingSetBytes: value(12)},
  };
  expect(sumUsage([one, other])).toMatchObject({
    cpu: {timestamp: 9n, usageCoreNanoSeconds: value(111), usageNanoCores: undefined},
    memory: {timestamp: 5n, workingSetBytes: value(42)},
    swap: {timestamp: 5n, swapUsageBytes: value(2)},
  });
  expect(sumUsage([])).toEqual({cpu: undefined, memory: undefined, swap: undefined});
});

test('the interfaces of the node exclude loopback and virtual interfaces', () => {
  const text = [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
    '    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0',
    '  eth0: 1000 2 3 0 0 0 0 0 4000 5 6 0 0 0 0 0',
    'veth12ab:7 7 7 0 0 0 0 0 7 7 7 0 0 0 0 0',
    'docker0: 8 8 8 0 0 0 0 0 8 8 8 0 0 0 0 0',
    '',
  ].join('\n');
  expect(parseNetworkInterfaces(text)).toEqual([
    {name: 'eth0', rxBytes: 1000n, rxErrors: 3n, txBytes: 4000n, txErrors: 6n},
  ]);
});

test('pressure is parsed with and without the "full" line, which older kernels lack', () => {
  const some = 'some avg10=28.02 avg60=26.50 avg300=38.50 total=21307590552\n';
  const full = 'full avg10=0.00 avg60=0.10 avg300=0.00 total=7\n';
  const Some = {Total: 21_307_590_552n, Avg10: 28.02, Avg60: 26.5, Avg300: 38.5};
  expect(parsePressure(some + full)).toEqual({Some, Full: {Total: 7n, Avg10: 0, Avg60: 0.1, Avg300: 0}});
  expect(parsePressure(some)).toEqual({Some, Full: undefined});
  expect(parsePressure('')).toBeUndefined();
});

// The numbers of a node with cgroup v1, whose memory.usage_in_bytes was 8315629568 a moment before.
test('the used memory of the node is that of its root cgroup', () => {
  const kibibytes = {
    ...{MemTotal: 24_683_656, MemFree: 15_302_992, Buffers: 229_968, Cached: 7_572_988, SwapCached: 0},
    ...{'Inactive(file)': 3_380_140, AnonPages: 317_904, SwapTotal: 0, SwapFree: 0},
  };
  const lines = Object.entries(kibibytes).map(([name, amount]) => `${name}:  ${amount} kB\n`);
  const {usedBytes, workingSetBytes, memoryBytes} = parseMemory(lines.join(''));
  expect(usedBytes).toBe(8_120_860n * 1024n);
  expect(workingSetBytes).toBe((8_120_860n - 3_380_140n) * 1024n);
  expect(memoryBytes).toBe(24_683_656n * 1024n);
});

test('the usage of the node is read from its kernel', async () => {
  const usage = readNodeUsage(1_700_000_000_000);
  expect(usage.timeNanos).toBe(1_700_000_000_000_000_000n);
  expect(usage.memoryBytes).toBeGreaterThan(usage.workingSetBytes);
  expect(usage.pageFaults).toBeGreaterThan(usage.majorPageFaults);
  expect(usage.tasks).toBeGreaterThan(1n);
  expect(usage.maxTasks).toBeGreaterThan(usage.tasks);
  expect(usage.cpuNanos).toBeGreaterThan(0n);
});
