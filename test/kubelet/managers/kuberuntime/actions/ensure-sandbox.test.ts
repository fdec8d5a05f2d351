import {expect, test} from 'vitest';
import {SystemError} from '../../../../../src/base/errors.js';
import {aLocalPod, startRegistryTestbed} from '../../../pods/registry-testbed.js';
import {syncOnce} from '../../../pods/sync-once.js';

test('the resolver configuration is read for each sandbox, and its absence is an event', async () => {
  const {pods, node, runtime, events} = await startRegistryTestbed();
  const nameservers: string[] = [];
  const readResolvConf = async () => {
    if (nameservers.length === 0) throw new SystemError('open /etc/resolv.conf: no such file or directory');
    return {nameservers, searches: [], options: []};
  };
  Object.assign(node, {readResolvConf});
  const syncer = pods.createSyncer(aLocalPod({dnsPolicy: 'Default'}));

  await syncOnce(syncer);
  expect(runtime.callsTo('RunPodSandbox')).toEqual([]);
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message: 'Failed to create pod sandbox: open /etc/resolv.conf: no such file or directory',
    },
  ]);

  nameservers.push('192.0.2.99');
  await syncOnce(syncer);
  expect(runtime.sandboxes[0]?.config.dnsConfig?.servers).toEqual(['192.0.2.99']);
});
