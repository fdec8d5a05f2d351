import {expect, test} from 'vitest';
import {liveValue} from '../../../src/kubelet/contract/live-value.js';

test('a live value changes in copies of the options that contain it', () => {
  let period = 1;
  const options = {...{period: liveValue(() => period)}};
  period = 2;
  expect(options.period.current).toBe(2);
});
