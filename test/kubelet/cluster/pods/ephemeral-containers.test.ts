import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

/** Adds an ephemeral container to a pod, as `kubectl debug` does. */
function debug({api}: ClusterTestbed, pod: string, fields: object): void {
  const stored = api.pod(pod)!;
  api.storage.put(`/api/v1/namespaces/default/pods/${pod}`, {
    ...stored,
    spec: {
      ...(stored['spec'] as object),
      ephemeralContainers: [{name: 'debugger', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', ...fields}],
    },
  });
}

test('an ephemeral container joins the processes of its target, and is never restarted', async () => {
  await using testbed = await ClusterTestbed.start();
  const {daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  debug(testbed, 'web', {targetContainerName: 'main'});
  const debuggers = () => testbed.status('web').ephemeralContainerStatuses ?? [];
  await daemon.until('the debugger runs', () => debuggers()[0]?.state?.running !== undefined);
  expect(debuggers()).toMatchObject([{name: 'debugger', ready: false, restartCount: 0}]);
  expect(debuggers()[0]).not.toHaveProperty('started');
  const [main, debugged] = ['main', 'debugger'].map((name) =>
    daemon.fake.containers.find(({config}) => config.metadata?.name === name),
  );
  expect(debugged?.config.linux?.securityContext?.namespaceOptions).toMatchObject({
    pid: 'TARGET',
    targetId: main?.id,
  });
  daemon.fake.exitContainer(debugged!.id, 7);
  await daemon.until('the debugger has ended', () => debuggers()[0]?.state?.terminated?.exitCode === 7);
  await daemon.stop();
  daemon.run();
  testbed.createPod('other');
  await testbed.untilPhase('other', 'Running');
  expect(daemon.running).toEqual(['other/main/0', 'web/main/0']);
  expect(testbed.status('web')).toMatchObject({
    phase: 'Running',
    ephemeralContainerStatuses: [{state: {terminated: {exitCode: 7}}}],
  });
});

test('an ephemeral container whose target does not exist says so, and the pod keeps running', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  debug(testbed, 'web', {targetContainerName: 'nobody'});
  await testbed.daemon.until(
    'the failure is reported',
    () => testbed.status('web').ephemeralContainerStatuses?.[0]?.state?.waiting?.message !== undefined,
  );
  expect(testbed.status('web')).toMatchObject({
    phase: 'Running',
    ephemeralContainerStatuses: [
      {
        state: {
          waiting: {
            reason: 'CreateContainerConfigError',
            message: 'unable to find target container nobody',
          },
        },
      },
    ],
  });
});
