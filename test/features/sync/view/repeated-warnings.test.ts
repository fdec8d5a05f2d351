import {expect, test} from 'vitest';
import {LineRenderer} from '../../../../src/features/sync/view/line-renderer.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {aPodWith} from '../../../kubelet/managers/volumes/volume-fixtures.js';

const pod = aPodWith([]);
const ref = podRef(pod);

function aRenderer(warnings = true) {
  const lines: string[] = [];
  const clock = new FakeClock();
  const renderer = new LineRenderer({
    out: () => undefined,
    err: (line) => lines.push(line.replace(/^\S+ /, '')),
    ...{warnings, clock},
  });
  const warn = (message: string, fieldPath?: string): void => {
    renderer.event(ref, {
      ...{type: 'Warning', reason: 'FailedMount', message, pod},
      ...(fieldPath !== undefined && {fieldPath}),
    });
  };
  return {lines, clock, renderer, warn};
}

test('warnings that alternate at each retry are shown once, and then with their counts at growing intervals', async () => {
  const {lines, clock, warn} = aRenderer();
  for (let delayMs = 500; delayMs < 100_000; delayMs *= 2) {
    warn('no driver');
    warn('no device');
    await clock.advance(delayMs);
  }
  expect(lines).toEqual([
    ...['FailedMount: no driver', 'FailedMount: no device'],
    ...['FailedMount: no driver (x6 over 15s)', 'FailedMount: no device (x6 over 15s)'],
    ...['FailedMount: no driver (x8 over 63s)', 'FailedMount: no device (x8 over 63s)'],
  ]);
});

test('a warning with another message, or about a container, is shown at once', () => {
  const {lines, warn} = aRenderer();
  warn('a');
  warn('b');
  warn('a', 'spec.containers{main}');
  expect(lines).toEqual(['FailedMount: a', 'FailedMount: b', 'container main: FailedMount: a']);
});

test('no warning is shown unless they are wanted, and no event that is none', () => {
  const silent = aRenderer(false);
  silent.warn('a');
  const {lines, renderer} = aRenderer();
  renderer.event(ref, {type: 'Normal', reason: 'Pulled', message: 'a', pod});
  expect([lines, silent.lines]).toEqual([[], []]);
});

test('only the last thousand warnings are remembered', () => {
  const {lines, warn} = aRenderer();
  for (let number = 0; number <= 1000; number += 1) warn(`attempt ${number}`);
  warn('attempt 1000');
  warn('attempt 0');
  expect(lines).toHaveLength(1002);
  expect(lines.at(-1)).toBe('FailedMount: attempt 0');
});
