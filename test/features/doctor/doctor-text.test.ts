import {Chalk} from 'chalk';
import {expect, test} from 'vitest';
import type {CheckResult} from '../../../src/features/doctor/check.js';
import {doctorText} from '../../../src/features/doctor/doctor-text.js';

const aResult = (fields: Partial<CheckResult>): CheckResult => ({
  id: 'disk/space',
  area: 'disk',
  title: 'available space',
  result: 'ok',
  message: 'half is left',
  details: [],
  remedy: [],
  ...fields,
});
const options = {chalk: new Chalk({level: 0}), prefix: ['kcri', '-r', '/x.sock']};

test('only what is not ok has details and remedies, and a summary follows', () => {
  const results = [
    aResult({}),
    aResult({
      id: 'network/netns',
      result: 'warning',
      message: 'two',
      details: ['one'],
      remedy: [{kcri: ['top']}, 'ls'],
    }),
    aResult({id: 'disk/x', result: 'skipped', message: 'not examined', reason: 'no root'}),
  ];
  expect(doctorText(results, options)).toBe(
    [
      'ok       disk/space     half is left',
      'warning  network/netns  two',
      '         one',
      '         try: kcri -r /x.sock top',
      '         try: ls',
      'skipped  disk/x         not examined: no root',
      '1 ok, 1 warning, 0 failures, 1 skipped',
      '',
    ].join('\n'),
  );
});

test('control characters of the node are escaped', () => {
  const text = doctorText(
    [aResult({result: 'failure', message: 'a\x1b[2J', details: ['b\rc'], remedy: ['rm \x07']})],
    options,
  );
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(text).toContain(String.raw`a\x1b[2J`);
});

test('results have colors', () => {
  const {chalk} = {chalk: new Chalk({level: 1})};
  expect(doctorText([aResult({})], {...options, chalk})).toContain('\x1b[32mok\x1b[39m       disk/space');
});
