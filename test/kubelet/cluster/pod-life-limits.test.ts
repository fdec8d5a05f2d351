import {expect, test} from 'vitest';
import {excessOver, tally} from './pod-life-limits.js';

const limits = {start: ['ms until StartContainer 0', 'StartContainer 1, PATCH pods/status 3'], idle: []};

test.each([
  ['the limits themselves', {start: {'ms until StartContainer': 0, StartContainer: 1}}, []],
  ['less', {start: {'PATCH pods/status': 1}}, []],
  ['a wait', {start: {'ms until StartContainer': 1000}}, ['start: ms until StartContainer: 1000, at most 0']],
  ['one more call', {start: {'PATCH pods/status': 4}}, ['start: PATCH pods/status: 4, at most 3']],
  ['a new call', {start: {}, idle: {ListImages: 2}}, ['idle: ListImages: 2, at most 0']],
  ['a step without limits', {deletion: {fsyncs: 1}}, ['deletion: fsyncs: 1, at most 0']],
])('%s', (_, costs, expected) => {
  expect(excessOver(limits, costs)).toEqual(expected);
});

test('names are counted', () => {
  expect(tally(['a', 'b', 'a'])).toEqual({a: 2, b: 1});
});
