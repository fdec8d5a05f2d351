import {describe, expect, test} from 'vitest';
import {KcriError} from '../../src/base/errors.js';
import {removeLaterBackOff} from './canonical/remove-later-back-off.js';
import {callsByPod, type CanonicalLine} from '../../src/recording/canonical/canonical-calls.js';
import {readGoldenCase} from './golden-cases.js';
import {goldenPlayOptions, type GoldenRuntime} from './drivers/golden-play-options.js';
import {listCases, expectEventExplains, expectPodRuns} from './parity-cases.js';
import type {DriverName} from './parity.js';
import {FIRST_MANIFEST_FILE} from './golden-testbed.js';
import {playCase, type PlayResult} from './play-case.js';

/** Mounting a tmpfs, changing owners and creating a device need root. */
const isRoot = process.getuid?.() === 0;

/** Plays a case with a driver. */
type Play = (name: string, settleSeconds?: number) => Promise<PlayResult>;

/** Returns the only rejection of a case in which nothing else happened. */
function onlyRejectionOf({lines, pods, events, rejections}: PlayResult): string {
  expect({lines, pods, events}).toEqual({lines: [], pods: [], events: []});
  expect(rejections).toHaveLength(1);
  return rejections[0]!;
}

/** Returns the calls pod by pod, and then which containers were removed in which order. */
function callsBesideRemovals(lines: readonly CanonicalLine[]): readonly unknown[] {
  const isRemoval = (line: CanonicalLine): boolean => 'method' in line && line.method === 'RemoveContainer';
  return [
    callsByPod(lines.filter((line) => !isRemoval(line))),
    callsByPod(lines.filter((line) => isRemoval(line))),
  ];
}

/** Describes all recorded cases with `kcri kubelet` or with `kcri sync` and `kcri delete`. */
export function describeGoldenCases(driver: DriverName, runtime: GoldenRuntime): void {
  const play: Play = async (name, settleSeconds) =>
    await playCase(name, {...goldenPlayOptions(driver, name, runtime), settleSeconds});

  describe.runIf(isRoot)(
    'from manifest to running to deleted kcri equals kubelet 1.36.2 (needs root)',
    () => {
      test.each(listCases(driver, 'equal'))('%s', async (name, parity) => {
        const {settleSeconds, meanwhile = false, mayBackOff = false} = parity;
        const recorded = readGoldenCase(name);

        const played = await play(name, settleSeconds);

        const calls = meanwhile ? callsBesideRemovals : callsByPod;
        expect(calls(played.lines)).toEqual(calls(recorded.lines));
        const shown = played.pods.map((pod, index) =>
          mayBackOff ? removeLaterBackOff(pod, recorded.pods[index]!) : pod,
        );
        expect(shown).toEqual(recorded.pods);
        expect(played.events).toEqual(recorded.events);
        expect(played.rejections).toEqual([]);
      });
    },
  );

  describe('a manifest that the kubelet rejects', () => {
    if (driver === 'daemon') describeDaemonRejections(play);
    else describeForegroundRejections(play);

    test.each(listCases(driver, 'runs'))('%s runs', async (name) => {
      expectPodRuns(name, await play(name));
    });
  });

  test.each(listCases(driver, 'reported'))('%s is reported by an event', async (name, {event}) => {
    expectEventExplains(name, await play(name), event);
  });
}

function describeDaemonRejections(play: Play): void {
  test.each(listCases('daemon', 'rejected'))("%s is rejected in the kubelet's words", async (name) => {
    const rejection = onlyRejectionOf(await play(name));

    expect(rejection.replaceAll(FIRST_MANIFEST_FILE, `${name}.yaml`)).toBe(readGoldenCase(name).rejection);
  });

  test.each(listCases('daemon', 'explained'))('%s is rejected with a better explanation', async (name) => {
    expect(readGoldenCase(name).rejection).toBeDefined();
    expect(onlyRejectionOf(await play(name))).toContain(`"<MANIFESTS>/${FIRST_MANIFEST_FILE}"`);
  });

  test.each(listCases('daemon', 'accepted'))('%s is accepted', async (name) => {
    const {lines, pods, events, rejections} = await play(name);

    expect({lines, pods, events, rejections}).toEqual({lines: [], pods: [], events: [], rejections: []});
  });
}

function describeForegroundRejections(play: Play): void {
  const errorOf = async (name: string): Promise<string> => {
    const error: unknown = await play(name).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(KcriError);
    return (error as KcriError).message;
  };

  test.each(listCases('foreground', 'rejected'))("%s is rejected in the kubelet's words", async (name) => {
    const [, words] = /^can't process config file "[^"]*": (?:invalid pod: \[)?(.*?)\]?$/.exec(
      readGoldenCase(name).rejection!,
    )!;

    expect(await errorOf(name)).toContain(words);
  });

  test.each(listCases('foreground', 'explained'))(
    '%s is rejected with a better explanation',
    async (name) => {
      expect(readGoldenCase(name).rejection).toBeDefined();
      expect(await errorOf(name)).toContain('pod.yaml');
    },
  );

  test.each(listCases('foreground', 'missing'))('%s needs a running kubelet', async (name) => {
    expect(await errorOf(name)).toMatch(/needs a running kubelet/);
  });
}
