import {expect, test} from 'vitest';
import {requireNotSuperseded} from '../../../../src/kubelet/pods/registry/pod-ownership.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {SupersededError} from '../../../../src/kubelet/pods/pod-errors.js';
import {aSandbox} from '../../../fakes/fake-runtime.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;

test('a pod adopted again keeps its creation time and is not new', async () => {
  const {pods} = await startRegistryTestbed();
  const pod = aLocalPod();
  const first = await pods.adopt(pod, 'pod.yaml');
  const second = await pods.adopt(pod, '-');
  expect([first.before, second.before]).toEqual([undefined, first.record.pod]);
  expect(second.record).toEqual({...first.record, source: '-'});
  expect(await pods.store.get(podRef(pod).uid)).toEqual(second.record);
});

test('adopting a changed pod deletes the older pod of the same name and no other', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  for (const pod of [aLocalPod(), aLocalPod({name: 'other'})]) {
    await pods.adopt(pod, 'pod.yaml');
    await syncOnce(pods.createSyncer(pod), signal);
  }
  const changed = aLocalPod({hostname: 'changed'});
  await pods.adopt(changed, 'pod.yaml');
  expect(runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(['other']);
  const {records} = await pods.store.list();
  expect(records.map(({name, uid}) => [name, uid]).toSorted()).toEqual([
    ['other', aLocalPod({name: 'other'}).metadata.uid],
    ['web', changed.metadata.uid],
  ]);
});

test('adopting a UID in use by a foreign pod is rejected before the older pod of the same name is deleted', async () => {
  const {pods, runtime} = await startRegistryTestbed({
    sandboxes: [aSandbox({name: 'foreign', uid: 'taken'})],
  });
  const older = aLocalPod();
  await pods.adopt(older, 'pod.yaml');
  await syncOnce(pods.createSyncer(older), signal);
  await expect(pods.adopt(aLocalPod({metadata: {uid: 'taken'}}), 'pod.yaml')).rejects.toThrow(
    'the UID "taken" is in use by a pod',
  );
  expect(runtime.sandboxes).toHaveLength(2);
  expect(await pods.store.get(podRef(older).uid)).toBeDefined();
});

test('checkConflicts changes nothing and returns the older pod that would be deleted', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const older = aLocalPod();
  const {record} = await pods.adopt(older, 'pod.yaml');
  expect(await pods.checkConflicts(older)).toEqual({known: record, older: undefined});
  expect(await pods.checkConflicts(aLocalPod({hostname: 'changed'}))).toEqual({
    known: undefined,
    older: record,
  });
  expect(runtime.calls.filter(({method}) => !/^(List|Version)/.test(method))).toEqual([]);
});

test('a record is found by namespace and name unless its pod was removed', async () => {
  const {pods} = await startRegistryTestbed();
  await pods.adopt(aLocalPod({metadata: {namespace: 'other'}}), 'pod.yaml');
  const {record} = await pods.adopt(aLocalPod({name: 'api'}), 'pod.yaml');
  const api = {namespace: 'default', name: 'api'};
  expect(await pods.findByName(api)).toEqual(record);
  expect(await pods.findByName({namespace: 'default', name: 'web'})).toBeUndefined();
  await pods.remover.markRemoved(record);
  expect(await pods.findByName(api)).toBeUndefined();
});

test('a process owns a pod until another process deletes or changes it', async () => {
  const {pods} = await startRegistryTestbed();
  const pod = aLocalPod({metadata: {uid: 'u1'}});
  const {record} = await pods.adopt(pod, 'pod.yaml');
  await requireNotSuperseded(pod, pods.store);
  await pods.adopt(aLocalPod({metadata: {uid: 'u1'}, hostname: 'changed'}), 'pod.yaml');
  await expect(requireNotSuperseded(pod, pods.store)).rejects.toThrow(SupersededError);
  await pods.remover.deletePod(record);
  await expect(requireNotSuperseded(pod, pods.store)).rejects.toThrow('another kcri process deleted it');
});

test('an aborted deletion that waits for a container keeps the record and can be retried', async () => {
  const {pods, runtime} = await startRegistryTestbed({behaviour: () => ({ignoresStop: true})});
  const pod = aLocalPod({terminationGracePeriodSeconds: 600});
  const {record} = await pods.adopt(pod, 'pod.yaml');
  await syncOnce(pods.createSyncer(pod), signal);
  const controller = new AbortController();
  const ending = pods.remover.deletePod(record, {signal: controller.signal});
  await expect.poll(() => runtime.callsTo('StopContainer')).toHaveLength(1);
  controller.abort(new Error('enough'));
  await expect(ending).rejects.toThrow('enough');
  expect(await pods.store.get(record.uid)).toEqual(record);
  runtime.exitContainer(runtime.containers[0]!.id, 0);
  await pods.remover.deletePod(record);
  expect(await pods.store.get(record.uid)).toBeUndefined();
  expect(runtime.sandboxes).toEqual([]);
});
