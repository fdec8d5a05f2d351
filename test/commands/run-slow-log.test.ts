import {appendFile, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {BUSYBOX} from '../fakes/runtime-builders.js';
import {createTestbed} from './command-testbed.js';

test('the output is complete if the runtime writes it only after it has reported the exit', async () => {
  const {runtime, rootDir} = await createTestbed();
  let written = 0;
  const writeLate = async (): Promise<void> => {
    if (written === 5 || runtime.containers[0]?.state !== 'CONTAINER_EXITED') return;
    const [log = ''] = await readdir(join(rootDir, 'kcri/run'));
    written += 1;
    await appendFile(join(rootDir, 'kcri/run', log), `2026-11-20T10:00:00.000000001Z stdout F ${written}\n`);
  };
  runtime.injectAction('ContainerStatus', writeLate, {times: Infinity});
  const {stdout, exitCode} = await runKcri(
    ['--root-dir', rootDir, 'run', BUSYBOX, '--', 'sh', '-c', 'echo hello; exit 3'],
    {endpoint: runtime.endpoint},
  );
  expect({stdout, exitCode}).toEqual({stdout: 'hello\n1\n2\n3\n4\n5\n', exitCode: 3});
});
