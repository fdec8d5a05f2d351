import {describe, expect, test} from 'vitest';
import {translateStatus} from '../../../../src/kubelet/server/streams/stream-translator.js';

describe('the status of a translated session', () => {
  test.each([
    {status: 'Success', metadata: {}},
    {status: 'Failure', reason: 'NonZeroExitCode', details: {causes: [{reason: 'ExitCode', message: '7'}]}},
  ])('%j is that of the runtime', (status) => {
    expect(translateStatus(JSON.stringify(status))).toBe(JSON.stringify(status));
  });

  test.each([
    ['{"status":"Failure","reason":"InternalError","message":"no such file"}', 'no such file'],
    ['not JSON', 'not JSON'],
  ])('%s is an internal error', (status, message) => {
    expect(JSON.parse(translateStatus(status))).toMatchObject({
      status: 'Failure',
      reason: 'InternalError',
      code: 500,
      message: `Internal error occurred: ${message}`,
      details: {causes: [{message}]},
    });
  });
});
