import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {periodToMs} from '../../../src/kubelet/configuration/kubelet-config.js';

test.each([
  ['0', 100],
  ['0s', 100],
  ['-1h', 100],
  ['1ns', 100],
  ['100ms', 100],
  ['20s', 20_000],
  ['600h', 2 ** 31 - 1],
])('the period %s makes a loop pause for %d ms', (period, expected) => {
  expect(periodToMs(period)).toBe(expected);
});

const FOLDER = join(import.meta.dirname, '../../../src/features/kubelet');

test('every configured period goes through the limits', () => {
  const conversions = readdirSync(FOLDER, {recursive: true, encoding: 'utf8'})
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      Array.from(
        readFileSync(join(FOLDER, name), 'utf8').matchAll(/(\w+)\([\w.]*(?:Frequency|Interval)\)/g),
        ([, by]) => `${name}: ${by}`,
      ),
    );
  expect(conversions.length).toBeGreaterThan(6);
  expect(conversions.filter((line) => !line.endsWith(': periodToMs'))).toEqual([]);
});
