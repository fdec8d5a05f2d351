import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {LastKnown} from '../../../src/kubelet/pods/history/pod-history.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const PROBED = aContainerSpec('main', {
  readinessProbe: {exec: {command: ['true']}, periodSeconds: 1},
});

/** Returns the stored status of the condition Ready of each pod. */
async function storedReadiness({rootDir}: CommandTestbed): Promise<readonly (string | undefined)[]> {
  const directory = join(rootDir, 'kcri/statuses');
  const names = await readdir(directory);
  return await Promise.all(
    names.map(async (name) => {
      const {status} = JSON.parse(await readFile(join(directory, name), 'utf8')) as LastKnown;
      return status.conditions?.find(({type}) => type === 'Ready')?.status;
    }),
  );
}

test('a second sync leaves a pod with a readiness probe ready', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('web.json', aManifest({containers: [PROBED]}));
  for (const attempt of [1, 2, 3]) {
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
    expect([attempt, await storedReadiness(testbed)]).toEqual([attempt, ['True']]);
  }
});

test('the remaining pods of a scaled-down Deployment stay ready', async () => {
  const testbed = await createTestbed();
  const labels = {app: 'web'};
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {name: 'web'},
    spec: {
      selector: {matchLabels: labels},
      template: {metadata: {labels}, spec: {containers: [PROBED], terminationGracePeriodSeconds: 1}},
    },
  };
  const file = await testbed.write('web.json', JSON.stringify(deployment));
  expect(await testbed.run(['sync', file, '--replicas=3'])).toMatchObject({exitCode: 0});
  expect(await testbed.run(['sync', file, '--replicas=2'])).toMatchObject({exitCode: 0});
  expect(await storedReadiness(testbed)).toEqual(['True', 'True']);
});
