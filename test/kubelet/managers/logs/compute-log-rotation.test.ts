import {expect, test} from 'vitest';
import {
  computeLogRotation,
  rotatedLogName,
  type LogRotationActions,
} from '../../../../src/kubelet/managers/logs/compute-log-rotation.js';

const NONE: LogRotationActions = {unused: [], excess: [], toCompress: []};

test.for<[string, readonly string[], number, Partial<LogRotationActions>]>([
  ['nothing was rotated yet', ['0.log'], 5, {}],
  ["other attempts' logs are left alone", ['0.log', '1.log', '1.log.a', '10.log.b', '0.logs'], 2, {}],
  ['the last one that was rotated is compressed now', ['0.log', '0.log.a'], 5, {toCompress: ['0.log.a']}],
  ['compressed ones stay as they are', ['0.log', '0.log.a.gz', '0.log.b'], 5, {toCompress: ['0.log.b']}],
  [
    'the oldest go, so that there are as many as may be with the log and the one after it',
    ['0.log.d', '0.log.a.gz', '0.log.c.gz', '0.log.b.gz', '0.log'],
    5,
    {excess: ['0.log.a.gz'], toCompress: ['0.log.d']},
  ],
  [
    'of two files none but the log is kept',
    ['0.log', '0.log.b', '0.log.a.gz'],
    2,
    {excess: ['0.log.a.gz', '0.log.b']},
  ],
  [
    'what was cut short is removed, whatever it is of',
    ['0.log', '0.log.a.tmp', '0.log.b.gz.tmp', '0.log.b'],
    5,
    {unused: ['0.log.a.tmp', '0.log.b.gz.tmp'], toCompress: ['0.log.b']},
  ],
  ['what was compressed already goes', ['0.log', '0.log.a', '0.log.a.gz'], 3, {unused: ['0.log.a']}],
])('before a rotation: %s', ([, names, maxFiles, plan]) => {
  expect(computeLogRotation(names, '0.log', maxFiles)).toEqual({...NONE, ...plan});
});

test('a rotated log has the time in its name, as the node has it', () => {
  const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
  expect(rotatedLogName('3.log', time)).toBe('3.log.20260102-030405');
});
