import {expect, onTestFinished} from 'vitest';
import type {PodTestbed, RunningPodState} from './pod-testbed.js';

/** Syncs a pod until it is ready. Deletes it at the end of the test and expects that nothing is left. */
export async function syncReadyPod(
  testbed: PodTestbed,
  name: string,
  manifest: string,
  args: readonly string[] = [],
): Promise<RunningPodState> {
  const {exitCode, stderr} = await testbed.sync(manifest, args);
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  const pod = await testbed.pod(name);
  onTestFinished(async () => {
    await testbed.delete(name);
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });
  return pod;
}
