import {isDeepStrictEqual} from 'node:util';
import {expect, test} from 'vitest';
import {GrpcStatusError} from '../../../fakes/runtime/grpc-status-error.js';
import {prepared, type FakeDraDriverOptions} from '../../../fakes/plugins/fake-dra-driver.js';
import {DRIVER, DraTestbed} from './dra-testbed.js';

const never = async (): Promise<object> => await new Promise<object>(() => undefined);
const SUPPORTED = '["v1.DRAPlugin" "v1beta1.DRAPlugin"]';
const SELECTOR = `spec.driver=${DRIVER},spec.nodeName=goldennode`;

test.each([
  [[], 'empty list of supported gRPC services (aka supported versions)'],
  [
    ['v1alpha3.DRAPlugin', 'x"y'],
    `none of services supported by the plugin (["v1alpha3.DRAPlugin" "x\\"y"]) are supported by the kubelet (${SUPPORTED})`,
  ],
])('a driver with the versions %j is told why it is refused', async (versions, problem) => {
  await using testbed = await DraTestbed.start();
  const {registrar} = await testbed.plug({versions});
  expect(registrar.statuses[0]).toEqual({
    plugin_registered: false,
    error: expect.stringMatching(/^RegisterPlugin error -- plugin validation failed with err: /) as string,
  });
  expect(String(registrar.statuses[0]?.['error'])).toContain(problem);
});

test('of the versions of a driver, the first that is supported is used', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug({
    version: 'v1beta1',
    versions: ['v2.DRAPlugin', 'v1beta1.DRAPlugin', 'v1.DRAPlugin'],
  });
  testbed.createClaim('gpu');
  testbed.createPod('web', ['gpu']);
  expect(await testbed.devicesOf('web')).toHaveLength(1);
  expect(driver.calls).toHaveLength(1);
});

test.each<[string, NonNullable<FakeDraDriverOptions['answers']>, string]>([
  [
    'about another claim',
    {NodePrepareResources: () => ({claims: [prepared({namespace: '', uid: 'alien', name: ''})]})},
    'NodePrepareResources returned result for unknown claim UID alien',
  ],
  [
    'with an error of the claim',
    {NodePrepareResources: ([claim]) => ({claims: [{key: claim?.uid, value: {error: 'broken'}}]})},
    'NodePrepareResources failed for ResourceClaim gpu: broken',
  ],
  ['without the claim', {NodePrepareResources: () => ({})}, 'NodePrepareResources skipped 1 ResourceClaims'],
  [
    'with an error',
    {
      NodePrepareResources: () => {
        throw new GrpcStatusError('UNAVAILABLE', 'not yet');
      },
    },
    'NodePrepareResources: rpc error: code = Unavailable desc = not yet',
  ],
])('a pod waits when its driver answers %s; others run', async (_title, answers, problem) => {
  await using testbed = await DraTestbed.start();
  await testbed.plug({answers});
  testbed.createClaim('gpu');
  testbed.createPod('web', ['gpu']);
  expect(await testbed.failureOf('web')).toBe(problem);
  testbed.createPod('other', []);
  expect(await testbed.devicesOf('other')).toEqual([]);
  await testbed.deletePod('web');
});

test('a driver that never answers holds up its own pods only, which can be deleted', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug({answers: {NodePrepareResources: never}});
  await testbed.plug({name: 'good.example.com'});
  testbed.createClaim('gpu');
  testbed.createClaim('good', ['good.example.com']);
  testbed.createPod('web', ['gpu']);
  await testbed.daemon.until('the driver is called', () => driver.calls.length > 0);
  testbed.createPod('other', ['good']);
  expect(await testbed.devicesOf('other')).toEqual(['example.com/dra=good']);
  await testbed.deletePod('web');
  expect(driver.callsTo('NodeUnprepareResources')).toHaveLength(1);
});

test('a pod is not deleted before its driver has released the claim, and others are', async () => {
  let isReady = false;
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug({
    answers: {
      NodeUnprepareResources: (claims) => ({
        claims: claims.map(({uid}) => ({key: uid, value: {error: isReady ? '' : 'busy'}})),
      }),
    },
  });
  for (const [name, claims] of [
    ['web', ['gpu']],
    ['other', []],
  ] as const) {
    for (const claim of claims) testbed.createClaim(claim);
    testbed.createPod(name, claims);
    await testbed.devicesOf(name);
  }
  testbed.cluster.api.deletePod('web');
  await testbed.daemon.until('it was tried twice', () => driver.callsTo('NodeUnprepareResources').length > 1);
  await testbed.deletePod('other');
  expect(testbed.cluster.api.pod('web')).toBeDefined();
  expect(await testbed.storedState()).toContain('"ClaimName":"gpu"');
  isReady = true;
  await testbed.cluster.untilDeleted('web');
});

test('the ResourceSlices of a driver are deleted when it has been away for 30 s, not when it comes back before', async () => {
  await using testbed = await DraTestbed.start({stepMs: 1000});
  const {registrar, driver} = await testbed.plug();
  const {clock} = testbed.daemon;
  await clock.sleep(60_000);
  expect(testbed.deletedSlices).toEqual([]);
  await registrar.stop();
  await clock.sleep(20_000);
  await driver.kill();
  const {registrar: again, driver: restarted} = await testbed.plug();
  await clock.sleep(60_000);
  expect(testbed.deletedSlices).toEqual([]);
  await again.stop();
  await clock.sleep(20_000);
  expect(testbed.deletedSlices).toEqual([]);
  await testbed.daemon.until('they are deleted', () => testbed.deletedSlices.length > 0);
  expect(testbed.deletedSlices).toEqual([SELECTOR]);
  await restarted.kill();
});

test('a driver that ends without deregistering loses its ResourceSlices too', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug({health: []});
  await testbed.daemon.until('its health is watched', () => driver.watchers > 0);
  await driver.kill();
  await testbed.daemon.until('they are deleted', () => testbed.deletedSlices.length > 0);
  expect(testbed.deletedSlices).toEqual([SELECTOR]);
});

test('the health that a driver reports is in the status of the pods that use its devices', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug({health: [{device: 'dev', health: 'HEALTHY'}]});
  testbed.createClaim('gpu');
  testbed.createPod('web', ['gpu']);
  await testbed.devicesOf('web');
  const reported = (state: object): boolean =>
    isDeepStrictEqual(testbed.containerStatus('web')?.allocatedResourcesStatus, [
      {name: 'claim:gpu', resources: [{resourceID: 'example.com/dra=gpu', ...state}]},
    ]);
  await testbed.daemon.until('it is healthy', () => reported({health: 'Healthy'}));
  driver.report([{device: 'dev', health: 'UNHEALTHY', message: 'too hot'}]);
  await testbed.daemon.until('it is not', () => reported({health: 'Unhealthy', message: 'too hot'}));
  await driver.kill();
  await testbed.daemon.until('nothing is known of it', () => reported({health: 'Unknown'}));
});
