import {expect, test} from 'vitest';
import {fitParts} from '../../../src/features/doctor/save-node.js';
import {anExit, aSnapshot} from '../why/a-snapshot.js';
import {GOOD_NODE} from './a-node.js';

const LOG = Array.from({length: 20}, (_, index) => `line ${index} ${'x'.repeat(500)}`);
const healthy = aSnapshot();
const unhealthy = anExit({exitCode: 3}, {containers: {main: {log: LOG}}});
const why = {node: {name: 'n', findings: []}, pods: [healthy, unhealthy, unhealthy]};
const doctor = GOOD_NODE;
const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const whole = sizeOf(doctor) + sizeOf(why);

/** Returns what remains within a size: pods, those with logs, and what is left out. */
function fit(maxBytes: number) {
  const {parts, leftOut} = fitParts({doctor, why}, maxBytes);
  const pods = 'pods' in parts.why ? parts.why.pods : [];
  expect(parts.doctor).toBe(doctor);
  return {
    pods: pods.length,
    withLogs: pods.filter(({containers}) => containers['main']?.log !== undefined).length,
    leftOut,
  };
}

test.each([
  ['everything', whole, {pods: 3, withLogs: 2, leftOut: []}],
  ['unhealthy pods', whole - 1, {pods: 2, withLogs: 2, leftOut: ['1 healthy pod']}],
  [
    'unhealthy pods without logs',
    whole - sizeOf(healthy) - 100,
    {pods: 2, withLogs: 0, leftOut: ['1 healthy pod', 'the last lines of their logs']},
  ],
  [
    'the node alone',
    0,
    {pods: 0, withLogs: 0, leftOut: ['1 healthy pod', 'the last lines of their logs', '2 unhealthy pods']},
  ],
])('within a size remain %s', (_, maxBytes, expected) => {
  expect(fit(maxBytes)).toEqual(expected);
});

test('a node whose pods could not be read is saved whatever the size', () => {
  const parts = {doctor, why: {error: 'no runtime'}};
  expect(fitParts(parts, 0)).toEqual({parts, leftOut: []});
});

test('logs are left out first, and then details and the lists of the runtime', () => {
  const logs = {files: {'/var/log/pods/a/0.log': {text: 'x'.repeat(1000), isCut: false}}};
  const runtime = {answers: {}, sandboxes: ['y'.repeat(1000)], containers: [], before: {}, failures: {}};
  const details = {sandboxes: {y: {info: 'z'.repeat(1000)}}, containers: {}};
  const parts = {doctor, why, runtime, details, logs};
  const all = sizeOf(parts);
  expect(fitParts(parts, all)).toEqual({parts, leftOut: []});
  expect(fitParts(parts, all - 1)).toEqual({
    parts: {doctor, why, runtime, details},
    leftOut: ['the logs of containers'],
  });
  const withoutDetails = ['the logs of containers', 'the details of objects and the runtime'];
  expect(fitParts(parts, all - 1500)).toEqual({parts: {doctor, why, runtime}, leftOut: withoutDetails});
  expect(fitParts(parts, all - 2500)).toEqual({
    parts: {doctor, why},
    leftOut: [...withoutDetails, 'the lists of the runtime'],
  });
});
