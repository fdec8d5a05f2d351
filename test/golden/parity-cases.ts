import {expect} from 'vitest';
import {callsByPod} from './canon.js';
import {GOLDEN_CASES, readGoldenCase} from './cases.js';
import {parityOf, type KeptBy, type Parity} from './parity.js';
import type {Played} from './play.js';

type KindOf<P extends Parity> = P['kind'];

/** The cases of these kinds, with what is said of each. */
export function casesOf<Kind extends KindOf<Parity>>(
  keptBy: KeptBy,
  ...kinds: readonly Kind[]
): readonly (readonly [string, Extract<Parity, {kind: Kind}>])[] {
  return GOLDEN_CASES.flatMap((name) => {
    const parity = parityOf(name, keptBy);
    return kinds.some((kind) => kind === parity.kind)
      ? [[name, parity as Extract<Parity, {kind: Kind}>] as const]
      : [];
  });
}

/** What the kubelet refuses: kcri runs the pod, and removes it again. */
export function expectItRuns(name: string, {lines, pods}: Played): void {
  expect(readGoldenCase(name).lines.filter((line) => 'method' in line)).toEqual([]);
  expect(pods).toMatchObject([{status: {phase: 'Running'}}]);
  expect(lines.map((line) => ('method' in line ? line.method : ''))).toEqual([
    ...['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer', 'StopPodSandbox'],
    ...['RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox'],
  ]);
}

/** What the kubelet keeps silent about: kcri does as little, and tells of it by this event. */
export function expectItIsTold(name: string, {lines, events}: Played, event: string): void {
  const recorded = readGoldenCase(name);
  expect(callsByPod(lines)).toEqual(callsByPod(recorded.lines));
  expect(recorded.events).toEqual([]);
  expect(events.map(({message}) => message)).toEqual([event]);
}
