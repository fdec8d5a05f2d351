import {expect, test} from 'vitest';
import {parseSessionStatus} from '../../../src/streaming/session/session-status.js';

const failure = (fields: object): string => JSON.stringify({status: 'Failure', ...fields});
const exit = (message: unknown) => ({
  reason: 'NonZeroExitCode',
  details: {causes: [{reason: 'ExitCode', message}]},
});

test.each([
  ['{"metadata":{},"status":"Success"}', {kind: 'exited', exitCode: 0}],
  [failure(exit('7')), {kind: 'exited', exitCode: 7}],
  [failure(exit('137')), {kind: 'exited', exitCode: 137}],
  [failure({...exit('many'), message: 'it failed'}), {kind: 'failed', message: 'it failed'}],
  [failure({...exit(7), message: 'it failed'}), {kind: 'failed', message: 'it failed'}],
  [failure({reason: 'NonZeroExitCode', message: 'no causes'}), {kind: 'failed', message: 'no causes'}],
  [failure({reason: 'InternalError', message: 'not there'}), {kind: 'failed', message: 'not there'}],
  [
    failure({reason: 'NonZeroExitCode', details: {causes: [null]}, message: 'x'}),
    {kind: 'failed', message: 'x'},
  ],
  ['plain text, as before v4\n', {kind: 'failed', message: 'plain text, as before v4'}],
  ['null', {kind: 'failed', message: 'null'}],
])('%s', (text, result) => {
  expect(parseSessionStatus(text)).toEqual(result);
});
