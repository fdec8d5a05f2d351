import {expect, test} from 'vitest';
import {
  computeLogRotation,
  rotatedLogName,
  type LogRotationActions,
} from '../../../../src/kubelet/managers/logs/compute-log-rotation.js';

const NONE: LogRotationActions = {unused: [], excess: [], toCompress: []};

test.for<[string, readonly string[], number, Partial<LogRotationActions>]>([
  ['nothing has been rotated yet', ['0.log'], 5, {}],
  ['logs of other attempts are ignored', ['0.log', '1.log', '1.log.a', '10.log.b', '0.logs'], 2, {}],
  ['the log of the last rotation is compressed', ['0.log', '0.log.a'], 5, {toCompress: ['0.log.a']}],
  ['compressed logs are kept', ['0.log', '0.log.a.gz', '0.log.b'], 5, {toCompress: ['0.log.b']}],
  [
    'the oldest logs beyond maxFiles are removed',
    ['0.log.d', '0.log.a.gz', '0.log.c.gz', '0.log.b.gz', '0.log'],
    5,
    {excess: ['0.log.a.gz'], toCompress: ['0.log.d']},
  ],
  [
    'with maxFiles 2 only the current and the next log are kept',
    ['0.log', '0.log.b', '0.log.a.gz'],
    2,
    {excess: ['0.log.a.gz', '0.log.b']},
  ],
  [
    'temporary files are removed',
    ['0.log', '0.log.a.tmp', '0.log.b.gz.tmp', '0.log.b'],
    5,
    {unused: ['0.log.a.tmp', '0.log.b.gz.tmp'], toCompress: ['0.log.b']},
  ],
  [
    'a log that was already compressed is removed',
    ['0.log', '0.log.a', '0.log.a.gz'],
    3,
    {unused: ['0.log.a']},
  ],
])('before a rotation, %s', ([, names, maxFiles, plan]) => {
  expect(computeLogRotation(names, '0.log', maxFiles)).toEqual({...NONE, ...plan});
});

test('the name of a rotated log contains the local time', () => {
  const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
  expect(rotatedLogName('3.log', time)).toBe('3.log.20260102-030405');
});
