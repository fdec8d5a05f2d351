import {expect, test} from 'vitest';
import {callsByPod} from './canon.js';
import {readGoldenCase} from './cases.js';
import {playCase} from './play.js';

/** Nobody probes in the foreground: a sidecar then counts as started as soon as it runs. */
const withoutProbes = (manifest: string): string => manifest.replace(/^ +startupProbe: .*\n/m, '');

test('but for its probes the case sidecar is played as recorded: started in order, ended last and in reverse', async () => {
  const {lines, events} = readGoldenCase('sidecar');

  const played = await playCase('sidecar', {change: withoutProbes});

  expect(callsByPod(played.lines)).toEqual(callsByPod(lines.filter((line) => !('probe' in line))));
  expect(played.events).toEqual(events.filter(({reason}) => reason !== 'Unhealthy'));
});
