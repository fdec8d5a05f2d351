import {readdir, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {ClusterTestbed} from '../cluster-testbed.js';

test('a pod is stopped even if its record cannot be written, as on a full disk', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web', {terminationGracePeriodSeconds: 1});
  await testbed.untilPhase('web', 'Running');
  const records = join(daemon.rootDir, 'kcri/records');
  expect(await readdir(records)).toHaveLength(1);
  await rename(records, `${records}.kept`);
  await writeFile(records, '');

  api.deletePod('web');
  await daemon.until('its container is stopped', () => daemon.fake.callsTo('StopContainer').length > 0);
  expect(daemon.log.map(({message}) => message)).toContain('Failed to record a pod, stopping it anyway');
  await testbed.untilDeleted('web');
});
