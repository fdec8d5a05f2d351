import {describe, expect, test} from 'vitest';
import {beforeBackOff} from './before-back-off.js';
import {callsByPod, type CanonicalLine} from './canon.js';
import {readGoldenCase} from './cases.js';
import {withDaemon, type DaemonRuntime} from './daemon.js';
import {casesOf, expectItIsTold, expectItRuns} from './parity-cases.js';
import {FIRST_FILE} from './scene.js';
import {playCase, type Played} from './play.js';

/** Mounting a tmpfs, changing owners and making a device take root. */
const isRoot = process.getuid?.() === 0;

/** Nothing is done and told but what is refused, and that once. */
function onlyRefusalOf({lines, pods, events, refusals}: Played): string {
  expect({lines, pods, events}).toEqual({lines: [], pods: [], events: []});
  expect(refusals).toHaveLength(1);
  return refusals[0]!;
}

/** The calls pod by pod, and then which containers were removed in which order. */
function callsBesideRemovals(lines: readonly CanonicalLine[]): readonly unknown[] {
  const isRemoval = (line: CanonicalLine): boolean => 'method' in line && line.method === 'RemoveContainer';
  return [
    callsByPod(lines.filter((line) => !isRemoval(line))),
    callsByPod(lines.filter((line) => isRemoval(line))),
  ];
}

/** All recorded cases with `kcri kubelet`. */
export function describeDaemon(runtime: DaemonRuntime): void {
  const play = async (name: string, settleSeconds?: number): Promise<Played> =>
    await playCase(name, {...withDaemon(name, runtime), settleSeconds});

  describe.runIf(isRoot)('kcri kubelet is kubelet 1.36.2 (needs root)', () => {
    test.each(casesOf('daemon', 'equal'))('%s', async (name, parity) => {
      const {settleSeconds, meanwhile = false, mayBackOff = false} = parity;
      const recorded = readGoldenCase(name);

      const played = await play(name, settleSeconds);

      const calls = meanwhile ? callsBesideRemovals : callsByPod;
      expect(calls(played.lines)).toEqual(calls(recorded.lines));
      const shown = played.pods.map((pod, index) =>
        mayBackOff ? beforeBackOff(pod, recorded.pods[index]!) : pod,
      );
      expect(shown).toEqual(recorded.pods);
      expect(played.events).toEqual(recorded.events);
      expect(played.refusals).toEqual([]);
    });
  });

  describe('what the kubelet refuses', () => {
    test.each(casesOf('daemon', 'refused'))('%s is refused in its words', async (name) => {
      const refusal = onlyRefusalOf(await play(name));

      expect(refusal.replaceAll(FIRST_FILE, `${name}.yaml`)).toBe(readGoldenCase(name).refusal);
    });

    test.each(casesOf('daemon', 'explained'))('%s is refused, and better explained', async (name) => {
      expect(readGoldenCase(name).refusal).toBeDefined();
      expect(onlyRefusalOf(await play(name))).toContain(`"<MANIFESTS>/${FIRST_FILE}"`);
    });

    test.each(casesOf('daemon', 'taken'))('%s is taken', async (name) => {
      const {lines, pods, events, refusals} = await play(name);

      expect({lines, pods, events, refusals}).toEqual({lines: [], pods: [], events: [], refusals: []});
    });

    test.each(casesOf('daemon', 'runs'))('%s runs', async (name) => {
      expectItRuns(name, await play(name));
    });
  });

  test.each(casesOf('daemon', 'told'))('%s is explained', async (name, {event}) => {
    expectItIsTold(name, await play(name), event);
  });
}
