import {expect, test} from 'vitest';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {aContainerSpec} from '../../../commands/pod-scene.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;

const RULE = {action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [42]}};
const POD = aLocalPod({
  containers: [
    aContainerSpec('main'),
    aContainerSpec('trigger', {restartPolicy: 'Never', restartPolicyRules: [RULE]}),
  ],
});

/** The containers in short, and whether all of them are restarting. */
function brief({phase, conditions = [], containerStatuses = []}: PodStatus): readonly unknown[] {
  const restarting = conditions.find(({type}) => type === 'AllContainersRestarting')?.status;
  const states = containerStatuses.map(({state = {}, lastState = {}, restartCount}) => {
    const {running, waiting, terminated} = state;
    const now = running ? 'running' : (waiting?.reason ?? `exit ${terminated?.exitCode}`);
    return [now, lastState.terminated?.reason, restartCount];
  });
  return [phase, restarting, ...states];
}

test('containers that all begin anew are told of from the exit that demands it until they run again', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const syncer = pods.createSyncer(POD);
  await syncOnce(syncer, signal);
  const trigger = runtime.containers.find(({config}) => config.metadata?.name === 'trigger');
  runtime.exitContainer(trigger!.id, 42);

  const seen = await syncer.observe(signal);
  const removed = await syncOnce(syncer, signal);
  const again = await syncOnce(syncer, signal);
  const settled = await syncOnce(syncer, signal);

  const reset = ['RestartingAllContainers', 'RestartingAllContainers', 1];
  const runs = ['running', 'RestartingAllContainers', 1];
  expect([seen, removed, again, settled].map(({status}) => brief(status))).toEqual([
    ['Running', 'True', ['running', undefined, 0], ['exit 42', undefined, 0]],
    ['Running', 'False', reset, reset],
    ['Running', 'False', runs, runs],
    ['Running', 'False', runs, runs],
  ]);
  expect(settled.results).toEqual([]);
});

test('a restart of all containers is gone on with when only the status tells of it any more', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const {status} = await syncOnce(pods.createSyncer(POD), signal);
  const conditions = [{type: 'AllContainersRestarting', status: 'True'}] as const;

  const syncer = pods.createSyncer(POD);
  syncer.restore({status: {...status, conditions}, reasons: {}});
  await syncOnce(syncer, signal);

  expect(runtime.containers).toEqual([]);
});
