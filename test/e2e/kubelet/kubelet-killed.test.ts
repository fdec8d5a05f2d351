import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const SOAK = fileURLToPath(new URL('../../bench/soak.mjs', import.meta.url));
/** `npm run soak` takes an hour. */
const MINUTES = '0.2';

describe.each(newestRuntime)('a kubelet killed at random moments: $name', ({folder, runc}) => {
  test('restarts nothing without cause, preserves restart counts, and leaves nothing', async () => {
    const programs = [
      ...(folder === undefined ? [] : ['--containerd', folder]),
      ...(runc === undefined ? [] : ['--runc', runc]),
    ];
    const {stdout} = await promisify(execFile)(process.execPath, [SOAK, '--minutes', MINUTES, ...programs]);
    expect(stdout).toMatch(/\nno faults\n$/);
  });
});
