import {expect, test} from 'vitest';
import {createDirectCalls} from '../../../src/base/fs/direct-calls.js';

const ROOT = '25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n';
const mounted = (type: string): string => `${ROOT}60 25 0:52 / /srv\\040-\\040ext4 rw - ${type} source rw\n`;

test('only the first calls are made directly', () => {
  const mayCallDirectly = createDirectCalls(2, () => ROOT);
  expect([mayCallDirectly(), mayCallDirectly(), mayCallDirectly()]).toEqual([true, true, false]);
});

test.each(['', mounted('nfs')])('no call is made directly with the mounts "%s"', (mounts) => {
  expect(createDirectCalls(2, () => mounts)()).toBe(false);
});
