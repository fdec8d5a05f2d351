import {expect, test} from 'vitest';
import {excessInstructions} from '../../../scripts/startup/instructions.mjs';

test.each<[string, number | undefined, number, string | undefined]>([
  ['fewer', 70_000_000, 10_000_000, undefined],
  ['3 % more', 70_000_000, 72_100_000, undefined],
  [
    'more than that',
    70_000_000,
    72_800_000,
    'executes 72.8 million instructions beyond an empty script, 4 % more than its budget of 70.0 million instructions',
  ],
  ['a new command', undefined, 1_000_000, 'executes 1.0 million instructions, and has no budget'],
])('a command with %s instructions is within its budget or reported', (_, budget, now, expected) => {
  expect(excessInstructions(budget, now)).toBe(expected);
});
