import {expect, test} from 'vitest';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {aContainerSpec} from '../../../commands/command-testbed.js';
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

/**
 * Summarizes a status: phase, AllContainersRestarting, and state, last reason and restart count of each
 * container.
 */
function summarize({phase, conditions = [], containerStatuses = []}: PodStatus): readonly unknown[] {
  const restarting = conditions.find(({type}) => type === 'AllContainersRestarting')?.status;
  const states = containerStatuses.map(({state = {}, lastState = {}, restartCount}) => {
    const {running, waiting, terminated} = state;
    const now = running ? 'running' : (waiting?.reason ?? `exit ${terminated?.exitCode}`);
    return [now, lastState.terminated?.reason, restartCount];
  });
  return [phase, restarting, ...states];
}

test('AllContainersRestarting is True from the triggering exit until the containers are removed', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const syncer = pods.createSyncer(POD);
  await syncOnce(syncer, signal);
  const trigger = runtime.containers.find(({config}) => config.metadata?.name === 'trigger');
  runtime.exitContainer(trigger!.id, 42);

  const observed = await syncer.observe(signal);
  const removed = await syncOnce(syncer, signal);
  const again = await syncOnce(syncer, signal);
  const settled = await syncOnce(syncer, signal);

  const reset = ['RestartingAllContainers', 'RestartingAllContainers', 1];
  const runs = ['running', 'RestartingAllContainers', 1];
  expect([observed, removed, again, settled].map(({status}) => summarize(status))).toEqual([
    ['Running', 'True', ['running', undefined, 0], ['exit 42', undefined, 0]],
    ['Running', 'False', reset, reset],
    ['Running', 'False', runs, runs],
    ['Running', 'False', runs, runs],
  ]);
  expect(settled.results).toEqual([]);
});

test('a restart of all containers is resumed from the condition in the restored status', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const {status} = await syncOnce(pods.createSyncer(POD), signal);
  const conditions = [{type: 'AllContainersRestarting', status: 'True'}] as const;

  const syncer = pods.createSyncer(POD);
  syncer.restore({status: {...status, conditions}, reasons: {}});
  await syncOnce(syncer, signal);

  expect(runtime.containers).toEqual([]);
});
