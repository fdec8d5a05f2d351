import {expect, test} from 'vitest';
import {containerSection, seccompLines} from '../../../src/features/describe/describe-containers.js';
import type {ResourceRequirements} from '../../../src/api/types/v1-meta.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';

const PROFILE = {type: 'Localhost', localhostProfile: 'audit.json'} as const;

// Proves: SeccompProfile.localhostProfile, SeccompProfile.type
test('a localhost seccomp profile is shown below the profile type of a container, and beside that of a pod', () => {
  const container = aContainer({securityContext: {seccompProfile: PROFILE}});
  const lines = containerSection('Containers', aPod({containers: [container]}), [container], {
    statuses: [],
    logs: new Map(),
  });

  expect(lines).toContain('    SeccompProfile:\tLocalhost');
  expect(lines).toContain('      LocalhostProfile:\taudit.json');
  expect(seccompLines(PROFILE)).toEqual(['SeccompProfile:\tLocalhost', 'LocalhostProfile:\taudit.json']);
});

const status = (
  resources: ResourceRequirements,
  state: object = {running: {startedAt: '2026-01-01T00:00:00Z'}},
) => ({
  ...{name: 'main', ready: true, restartCount: 0, image: '', imageID: ''},
  resources,
  state,
});

test.each<[string, ReturnType<typeof status>, readonly string[]]>([
  [
    'other limits and requests than those of the spec are shown too',
    status({limits: {memory: '128Mi', cpu: '1'}, requests: {memory: '64Mi', cpu: '250m'}}),
    ['    Limits in Effect:', '      memory:\t128Mi', '    Requests in Effect:', '      cpu:\t250m'],
  ],
  ['equal ones are not', status({limits: {memory: '65536Ki', cpu: '1000m'}}), []],
  [
    'those of a container that does not run are not',
    status({limits: {memory: '128Mi'}}, {terminated: {}}),
    [],
  ],
])('%s', (_, containerStatus, expected) => {
  const container = aContainer({
    name: 'main',
    resources: {limits: {memory: '64Mi', cpu: '1'}, requests: {memory: '64Mi', cpu: '100m'}},
  });
  const lines = containerSection('Containers', aPod({containers: [container]}), [container], {
    statuses: [containerStatus],
    logs: new Map(),
  });
  const from = lines.findIndex((line) => line.includes('in Effect'));
  expect(from < 0 ? [] : lines.slice(from, from + expected.length)).toEqual(expected);
  expect(lines.filter((line) => line.includes('in Effect'))).toHaveLength(expected.length / 2);
});
