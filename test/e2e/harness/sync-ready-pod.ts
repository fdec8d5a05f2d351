import {expect, onTestFinished} from 'vitest';
import type {PodTestbed, RunningPodState} from './pod-testbed.js';

/** Syncs until the pod is ready; it is deleted when the test ends, and must leave nothing. */
export async function syncReadyPod(
  ground: PodTestbed,
  name: string,
  manifest: string,
  args: readonly string[] = [],
): Promise<RunningPodState> {
  const {exitCode, stderr} = await ground.sync(manifest, args);
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  const pod = await ground.pod(name);
  onTestFinished(async () => {
    await ground.delete(name);
    expect(await ground.listLeftovers(pod.uid)).toEqual([]);
  });
  return pod;
}
