import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aManifest, createTestbed} from '../command-testbed.js';
import {startUi} from './ui-testbed.js';

async function started(...args: readonly string[]) {
  const testbed = await createTestbed();
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: aManifest()});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const ui = await startUi(['--root-dir', testbed.rootDir, 'ui', ...args], {
    endpoint: testbed.runtime.endpoint,
  });
  return {testbed, ...ui};
}

// Proves: ui
test('a page gets the state of nodes and pods, and what changes', async () => {
  const {testbed, page, interrupt} = await started();
  expect(await (await page.signIn()).json()).toMatchObject({
    allowed: [],
    version: expect.any(String) as string,
  });
  const live = await page.live();
  await live.until(() => live.messages.length > 0);
  expect(live.messages[0]).toMatchObject({
    kind: 'state',
    pods: [
      {
        name: 'web',
        namespace: 'default',
        manager: 'kcri',
        ready: '1/1',
        state: 'Running',
        tone: 'good',
        containers: [{name: 'main', state: 'Running'}],
      },
    ],
  });
  await testbed.run(['sync', '-'], {stdin: aManifest({name: 'api'})});
  await live.until(() => live.pod('api')?.state === 'Running');
  await testbed.run(['delete', 'web']);
  await live.until(() => live.pod('web') === undefined);
  expect(live.last?.nodes[0]).toMatchObject({
    cores: expect.any(Number) as number,
    runtime: expect.stringContaining(' ') as string,
  });
  expect(await interrupt()).toMatchObject({exitCode: 0});
  await until(() => live.isClosed);
});
