import {expect} from 'vitest';
import {callsByPod} from '../../src/recording/canonical/canonical-calls.js';
import {GOLDEN_CASES, readGoldenCase} from './golden-cases.js';
import {parityOf, type DriverName, type Parity} from './parity.js';
import type {PlayResult} from './play-case.js';

type KindOf<P extends Parity> = P['kind'];

/** Returns the cases of these kinds, each with its entry. */
export function listCases<Kind extends KindOf<Parity>>(
  driver: DriverName,
  ...kinds: readonly Kind[]
): readonly (readonly [string, Extract<Parity, {kind: Kind}>])[] {
  return GOLDEN_CASES.flatMap((name) => {
    const parity = parityOf(name, driver);
    return kinds.some((kind) => kind === parity.kind)
      ? [[name, parity as Extract<Parity, {kind: Kind}>] as const]
      : [];
  });
}

/** Expects that the pod of a case, which the kubelet rejects, ran and was removed. */
export function expectPodRuns(name: string, {lines, pods}: PlayResult): void {
  expect(readGoldenCase(name).lines.filter((line) => 'method' in line)).toEqual([]);
  expect(pods).toMatchObject([{status: {phase: 'Running'}}]);
  expect(lines.map((line) => ('method' in line ? line.method : ''))).toEqual([
    ...['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer', 'StopPodSandbox'],
    ...['RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox'],
  ]);
}

/** Expects that nothing was done in a case, as by the kubelet, and that one event explains why. */
export function expectEventExplains(name: string, {lines, events}: PlayResult, event: string): void {
  const recorded = readGoldenCase(name);
  expect(callsByPod(lines)).toEqual(callsByPod(recorded.lines));
  expect(recorded.events).toEqual([]);
  expect(events.map(({message}) => message)).toEqual([event]);
}
