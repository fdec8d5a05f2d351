import {expect, test} from 'vitest';
import {containerSection, seccompLines} from '../../../src/features/describe/describe-containers.js';
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
