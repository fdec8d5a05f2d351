import {expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {ClusterTestbed} from './cluster-testbed.js';

test('a kubelet that must be restarted ends with the reason; its pods keep running, and the next one adopts them', async () => {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  let isFirst = true;
  await using testbed = await ClusterTestbed.start(undefined, {
    certificates: () => {
      const managers = isFirst ? [{run: async () => failed}] : [];
      isFirst = false;
      return {managers, issued: Promise.resolve()};
    },
  });
  const {daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  fail(new SystemError('the certificate has expired'));
  await expect(daemon.ended).rejects.toThrow('the certificate has expired');
  expect(daemon.running).toEqual(['web/main/0']);
  daemon.run();
  testbed.createPod('next');
  await testbed.untilPhase('next', 'Running');
  expect(daemon.running).toEqual(['next/main/0', 'web/main/0']);
});
