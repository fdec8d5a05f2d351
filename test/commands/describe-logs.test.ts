import {expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed} from './command-testbed.js';

const SECRET = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name: 's'},
  stringData: {k: 'hush'},
});

async function describeCrashed(container: object): Promise<string> {
  const testbed = await createTestbed({
    behaviour: () => ({
      exitCode: 3,
      stdout: Array.from({length: 20}, (_, index) => `line ${index}\n`).join(''),
      stderr: 'PASSWORD=hunter2\n\u001b[31mred\n',
    }),
  });
  const main = aContainerSpec('main', container);
  const manifest = aManifest({restartPolicy: 'Never', containers: [main]});
  await testbed.run(['sync', '-'], {stdin: `${manifest}\n---\n${SECRET}`});
  const {stdout, stderr} = await runKcri(['--root-dir', testbed.rootDir, 'describe', 'web']);
  expect(stderr).toBe('');
  return stdout;
}

test('describe shows the last log lines of a failed container, without controls and secrets', async () => {
  const stdout = await describeCrashed({});
  const lines = Array.from({length: 6}, (_, index) => `      line ${index + 14}`);
  const shown = [
    '    Last Log Lines:',
    ...lines,
    '      PASSWORD=***',
    '      \\x1b[31mred',
    '    Environment:',
  ];
  expect(stdout).toContain(shown.join('\n'));
});

test('the log of a container with values of a Secret is not shown', async () => {
  const env = [{name: 'KEY', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}}];
  expect(await describeCrashed({env})).toContain(
    '    Last Log Lines:\n      (not shown, since the container uses a Secret; see "kcri logs")\n',
  );
});
