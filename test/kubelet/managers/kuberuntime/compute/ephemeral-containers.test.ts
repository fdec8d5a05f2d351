import {describe, expect, test} from 'vitest';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';
import {formatPodActions} from '../format-pod-actions.js';

const EXITED = 'CONTAINER_EXITED';

describe('an ephemeral container', () => {
  const debug = {...aContainer({name: 'debug'}), targetContainerName: 'main'};
  const pod = aPod({containers: [aContainer()], ephemeralContainers: [debug]});
  const main = anInstance('main', 'CONTAINER_RUNNING');

  test.each([
    ['starts beside the others', [main], 'debug debug'],
    ['does not start twice', [main, anInstance('debug', EXITED, {exitCode: 1})], ''],
    [
      'starts before a container that restarts',
      [anInstance('main', EXITED, {exitCode: 1})],
      'debug debug, start main',
    ],
  ])('%s', (_title, containers, expected) => {
    const status = aRuntimePod(containers, {sandboxes: [aSandboxStatus({})]});
    expect(formatPodActions(computePodActions(pod, status))).toBe(expected);
  });

  test('does not keep a finished pod', () => {
    const once = aPod({...pod.spec, restartPolicy: 'Never'});
    const status = aRuntimePod([anInstance('main', EXITED, {exitCode: 0})], {
      sandboxes: [aSandboxStatus({})],
    });
    expect(formatPodActions(computePodActions(once, status))).toBe('kill pod');
  });
});
