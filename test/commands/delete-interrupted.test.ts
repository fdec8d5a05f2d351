import {expect, test} from 'vitest';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {until} from '../base/until.js';
import {CSI_DRIVER, csiSockets, FakeCsiDriver} from '../fakes/plugins/fake-csi-driver.js';
import {aContainerSpec, aManifest, createTestbed} from './command-testbed.js';

test('Ctrl-C ends the deletion of a pod whose CSI driver hangs, and it can be repeated', async () => {
  const testbed = await createTestbed();
  let unpublish = async (): Promise<object> => await new Promise<object>(() => undefined);
  await using driver = await FakeCsiDriver.start({
    ...csiSockets(testbed.rootDir),
    answers: {NodeUnpublishVolume: async () => await unpublish()},
  });
  const object = {
    ...{apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: {name: CSI_DRIVER}},
    spec: {volumeLifecycleModes: ['Ephemeral']},
  };
  const pod = aManifest({
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
    volumes: [{name: 'v', csi: {driver: CSI_DRIVER}}],
  });
  const stdin = [pod, JSON.stringify(object)].join('\n---\n');
  expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0});
  const interrupt = new AbortController();
  const deleting = testbed.run(['delete', 'web'], {signal: interrupt.signal});
  await until(() => driver.callsTo('NodeUnpublishVolume').length > 0);
  interrupt.abort(new InterruptedError('SIGINT'));
  const {stderr, exitCode} = await deleting;
  expect(stderr).toContain('pod "default/web": is partially deleted\nhint: run "kcri delete default/web"');
  expect(exitCode).toBe(130);
  unpublish = async () => ({});
  expect(await testbed.run(['delete', 'web'])).toMatchObject({exitCode: 0});
});
