import {expect, test} from 'vitest';
import {
  countInstructions,
  excessInstructions,
  explainOtherNode,
  lowestCount,
} from '../../../scripts/startup/instructions.mjs';

test.each<[string, number | undefined, number, string | undefined]>([
  ['fewer', 70_000_000, 10_000_000, undefined],
  ['5 % more', 70_000_000, 73_500_000, undefined],
  [
    'more than that',
    70_000_000,
    74_200_000,
    'executes 74.2 million instructions beyond an empty script, 6.0 % more than its budget of 70.0 million instructions',
  ],
  ['a new command', undefined, 1_000_000, 'executes 1.0 million instructions, and has no budget'],
])('a command with %s instructions is within its budget or reported', (_, budget, now, expected) => {
  expect(excessInstructions(budget, now)).toBe(expected);
});

test('instructions are compared on one major version of Node.js', () => {
  expect(explainOtherNode('v20', 'v20')).toBeUndefined();
  expect(explainOtherNode('v20', 'v22')).toBe(
    'instructions cannot be compared: the budget is that of Node.js v20, and this is v22: use v20',
  );
});

test('without valgrind, counting fails and says what to install', async () => {
  await expect(countInstructions(['empty.js'], {PATH: '/nonexistent'})).rejects.toThrow(
    'instructions cannot be counted without valgrind: install it, for example with apt-get',
  );
});

test.each<[string, {counts: number[]; limit?: number; lowest: number; runs: number}]>([
  ['the first count within the limit ends it', {counts: [100, 90], limit: 100, lowest: 100, runs: 1}],
  ['a count above the limit is repeated', {counts: [104, 103, 99, 98], limit: 100, lowest: 99, runs: 3}],
  [
    'four counts above the limit are enough',
    {counts: [104, 103, 105, 106, 90], limit: 100, lowest: 103, runs: 4},
  ],
  ['without a limit, there are four', {counts: [104, 103, 99, 101, 90], lowest: 99, runs: 4}],
])('%s', async (_, {counts, limit, lowest, runs}) => {
  let run = 0;
  expect(await lowestCount(async () => counts[run++] ?? 0, limit)).toBe(lowest);
  expect(run).toBe(runs);
});
