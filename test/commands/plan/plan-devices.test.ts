import {expect, test} from 'vitest';
import {aPod, CLASS, documents, SLICE, startDriver, TEMPLATE} from '../claims-testbed.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';

const CLAIM = {...TEMPLATE, kind: 'ResourceClaim', metadata: {name: 'shared'}, spec: TEMPLATE.spec.spec};
const GETS = /^ {2}its ResourceClaims would get device dev of dra\.example\.com, pool pool \(claim /m;

test('a changed pod would get the device that it has', async () => {
  const testbed = await createTestbed();
  const driver = await startDriver(testbed);
  const file = await testbed.write('web.yaml', documents(aPod('web'), CLASS, SLICE, TEMPLATE));
  expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
  const changed = aPod('web', {labels: {changed: 'yes'}});
  await testbed.write('web.yaml', documents(changed, CLASS, SLICE, TEMPLATE));
  const {stdout} = await testbed.run(['plan', file]);
  expect(stdout).toMatch(/^1 pod: 1 to replace/);
  expect(stdout).toMatch(GETS);
  await driver.stop();
});

test('a pod would share a claim with a pod of sync', async () => {
  const testbed = await createTestbed();
  const driver = await startDriver(testbed);
  const sharing = (name: string): string =>
    aManifest({
      name,
      containers: [aContainerSpec('main', {resources: {claims: [{name: 'gpu'}]}})],
      resourceClaims: [{name: 'gpu', resourceClaimName: 'shared'}],
    });
  const file = async (name: string): Promise<string> =>
    await testbed.write(`${name}.yaml`, documents(sharing(name), CLASS, SLICE, CLAIM));
  expect(await testbed.run(['sync', await file('web')])).toMatchObject({exitCode: 0});
  const {stdout} = await testbed.run(['plan', await file('other')]);
  expect(stdout).toMatch(/^1 pod: 1 to create/);
  expect(stdout).toMatch(GETS);
  await driver.stop();
});

test('a pod without devices would wait', async () => {
  const testbed = await createTestbed();
  const pods = [aPod('web'), aPod('other')].join('\n---\n');
  const file = await testbed.write('pods.yaml', documents(pods, CLASS, SLICE, TEMPLATE));
  for (const diff of [[], ['--diff']]) {
    const {stdout} = await testbed.run(['plan', file, ...diff]);
    expect(stdout).toMatch(/^2 pods: 1 to create, 1 to wait for devices; /);
    expect(stdout).toMatch(
      /^pod default\/other \(uid \S+\): wait\n {2}the pod would stay Pending: cannot allocate all claims: .* 1 allocated already$/m,
    );
    expect(stdout).not.toContain('nothing to do');
  }
});
