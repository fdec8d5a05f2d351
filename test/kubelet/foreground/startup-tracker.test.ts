import {expect, test} from 'vitest';
import type {ContainerState} from '../../../src/api/types/v1-status.js';
import {StartupTracker} from '../../../src/kubelet/foreground/startup-tracker.js';
import {aContainer, aContainerStatus, aPod} from '../../fakes/a-pod.js';

const NOW = Date.parse('2026-11-20T14:00:10Z');
const status = (containerID: string, state: ContainerState) => ({
  containerStatuses: [aContainerStatus({name: 'main', containerID, state, ready: true})],
});
const running = (startedAt: string): ContainerState => ({running: {startedAt}});

test('a container must run for the whole time since it was first seen', () => {
  const tracker = new StartupTracker(1000);
  const pod = aPod();
  const started = status('containerd://a', running('2026-11-20T14:00:09Z'));
  // It may have started at the end of that second.
  expect(tracker.observe(pod, started, NOW)).toBe(1000);
  expect(tracker.observe(pod, started, NOW + 400)).toBe(600);
  expect(tracker.observe(pod, started, NOW + 1000)).toBe(0);
});

test('a restarted container starts again', () => {
  const tracker = new StartupTracker(1000);
  const pod = aPod();
  tracker.observe(pod, status('containerd://a', running('2026-11-20T14:00:10Z')), NOW);
  const restarted = status('containerd://b', running('2026-11-20T14:00:10Z'));
  expect(tracker.observe(pod, restarted, NOW + 900)).toBe(1000);
});

test('a container that has run for long when it is first seen needs no time', () => {
  const old = status('containerd://a', running('2026-11-20T14:00:08Z'));
  expect(new StartupTracker(1000).observe(aPod(), old, NOW)).toBe(0);
});

test.each([
  ['has a readiness probe', {readinessProbe: {exec: {command: ['true']}}}],
  ['has a startup probe', {startupProbe: {exec: {command: ['true']}}}],
])('a container that %s needs no time', (_, probes) => {
  const pod = aPod({containers: [aContainer({name: 'main', ...probes})]});
  const started = status('containerd://a', running('2026-11-20T14:00:10Z'));
  expect(new StartupTracker(1000).observe(pod, started, NOW)).toBe(0);
});

test('a container that does not run needs no time', () => {
  const ended = status('containerd://a', {terminated: {exitCode: 0}});
  expect(new StartupTracker(1000).observe(aPod(), ended, NOW)).toBe(0);
});
