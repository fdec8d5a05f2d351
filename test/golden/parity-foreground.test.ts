import {describe, expect, test} from 'vitest';
import {describeGoldenCases} from './describe-golden-cases.js';
import {GOLDEN_CASES} from './golden-cases.js';
import {DIFFERENT_CASES} from './parity.js';

describe('kcri sync on a runtime with events', () => {
  describeGoldenCases('foreground', {hasEvents: true});
});

test('every difference is one of a recorded case', () => {
  expect(DIFFERENT_CASES.filter((name) => !GOLDEN_CASES.includes(name))).toEqual([]);
});
