import {expect, test} from 'vitest';
import {aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

test('the daemon reports the steps of a start and a restart when it is asked for them', async () => {
  await using testbed = await DaemonTestbed.start({eventedPleg: true});
  await testbed.put('web.json', aManifest({name: 'web'}));
  await testbed.until('it is ready', () => testbed.statusOf('web').ready === 1);
  const [pod] = testbed.view.report({timelines: true}).pods;
  const steps = () => testbed.view.report({uids: [pod!.uid], timelines: true}).pods[0]?.timeline ?? [];
  expect(testbed.view.report().pods[0]).not.toHaveProperty('timeline');
  const created = expect.objectContaining({
    step: 'CreateContainer',
    container: 'main',
    containerId: expect.any(String) as string,
  }) as object;
  const start = [
    expect.objectContaining({step: 'Admitted'}),
    expect.objectContaining({step: 'PrepareVolumes', ms: expect.any(Number) as number}),
    expect.objectContaining({step: 'RunPodSandbox', ms: expect.any(Number) as number}),
    created,
    expect.objectContaining({step: 'StartContainer', container: 'main', ms: expect.any(Number) as number}),
    expect.objectContaining({step: 'Started', container: 'main'}),
    expect.objectContaining({step: 'Ready', container: 'main'}),
    expect.objectContaining({step: 'PodReady'}),
  ];
  expect(steps()).toEqual(start);
  testbed.kill('main');
  await testbed.until('it runs again', () => steps().filter(({step}) => step === 'Ready').length === 2);
  expect(
    steps()
      .slice(start.length)
      .map(({step}) => step),
  ).toEqual(expect.arrayContaining(['NotReady', 'CreateContainer', 'StartContainer', 'Started', 'Ready']));
});
