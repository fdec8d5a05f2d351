import {expect} from 'vitest';
import type {RecordedRequest} from '../../../fakes/api-server/api-request.js';
import {ClusterTestbed} from '../cluster-testbed.js';

/** Starts a kubelet that has joined a fake API server, with a clock of large steps. */
export async function startTestbed(
  options: Parameters<typeof ClusterTestbed.start>[1] = {},
): Promise<ClusterTestbed> {
  return await ClusterTestbed.start(undefined, {stepMs: 200, ...options});
}

/** Lets time pass. */
export async function pass({daemon}: Pick<ClusterTestbed, 'daemon'>, ms: number): Promise<void> {
  const end = daemon.clock.now() + ms;
  await daemon.until(`${ms} ms have passed`, () => daemon.clock.now() >= end);
}

/** Creates pods and waits until they run. */
export async function runPods(testbed: ClusterTestbed, ...names: readonly string[]): Promise<void> {
  for (const name of names) testbed.createPod(name);
  for (const name of names) await testbed.untilPhase(name, 'Running');
}

/** Numbers of calls that start and stop containers of kcri's pods so far. */
export function countCalls({daemon}: ClusterTestbed): {readonly starts: number; readonly stops: number} {
  const count = (pattern: RegExp): number =>
    daemon.fake.calls.filter(({method}) => pattern.test(method)).length;
  return {starts: count(/^StartContainer$/), stops: count(/^Stop/)};
}

/** Requests since a time. */
export function requestsSince({api}: ClusterTestbed, at: number): readonly RecordedRequest[] {
  return api.requests.filter((request) => request.at >= at);
}

/** Expects that every pod runs its first container, that nothing was stopped, and no container ran twice. */
export function expectUndisturbed(testbed: ClusterTestbed, ...names: readonly string[]): void {
  expect(testbed.daemon.running).toEqual(names.map((name) => `${name}/main/0`).toSorted());
  expect(countCalls(testbed)).toEqual({starts: names.length, stops: 0});
  expect(testbed.daemon.maxConcurrentInstances).toBe(1);
}
