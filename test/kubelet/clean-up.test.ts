import {expect, test} from 'vitest';
import {failuresOf} from '../../src/kubelet/container/sync-result.js';
import {aScript} from '../commands/pod-scene.js';
import {aLocalPod, aPodGround} from './pod-ground.js';

const signal = new AbortController().signal;
const BUSY = {code: 'UNKNOWN', message: 'device busy'} as const;

test('an older instance that can not be removed is no failure, and is removed by a later pass', async () => {
  const {pods, runtime} = await aPodGround();
  const attempts = (): readonly (number | undefined)[] =>
    runtime.containers.map(({config}) => config.metadata?.attempt).toSorted();
  const syncCrashed = async (): Promise<readonly string[]> => {
    const {results} = await pods.syncer(aLocalPod()).sync(signal);
    expect(failuresOf(results)).toEqual([]);
    return results.map(({action}) => action);
  };
  for (let crash = 0; crash < 2; crash++) {
    await syncCrashed();
    const running = runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
    runtime.exitContainer(running?.id ?? '', 1);
  }
  runtime.injectError('RemoveContainer', BUSY);

  expect(await syncCrashed()).toEqual(['StartContainer']);
  expect(runtime.callsTo('RemoveContainer')).toHaveLength(1);
  expect(attempts()).toEqual([0, 1, 2]);

  runtime.clearFaults();
  expect(await syncCrashed()).toEqual(['RemoveContainer']);
  expect(attempts()).toEqual([1, 2]);
});

test('an init container that can not be removed keeps no new sandbox from being made', async () => {
  const {pods, runtime} = await aPodGround();
  const pod = aLocalPod({initContainers: [aScript('setup', 'true')]});
  for (let pass = 0; pass < 3; pass++) await pods.syncer(pod).sync(signal);
  for (const sandbox of runtime.sandboxes) sandbox.state = 'SANDBOX_NOTREADY';
  runtime.injectError('RemoveContainer', BUSY);

  const {results} = await pods.syncer(pod).sync(signal);

  expect(runtime.callsTo('RemoveContainer')).toHaveLength(1);
  expect(failuresOf(results)).toEqual([]);
  expect(runtime.sandboxes.map(({config, state}) => [config.metadata?.attempt, state])).toEqual([
    [0, 'SANDBOX_NOTREADY'],
    [1, 'SANDBOX_READY'],
  ]);
});
