import {expect, test} from 'vitest';
import {LocalServices, withLocalServices} from '../../../../src/kubelet/managers/network/local-services.js';
import {NO_OBJECTS} from '../../../../src/kubelet/contract/api-objects.js';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {Service} from '../../../../src/api/types/v1-services.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const WEB: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name: 'web', namespace: 'default'},
  spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 8080}]},
};

const server = aPod({}, {name: 'server', uid: 'server', labels: {app: 'web'}});
const client = aPod({}, {name: 'client', uid: 'client'});
const {signal} = new AbortController();

function create(): {readonly services: LocalServices; readonly clock: FakeClock} {
  const clock = new FakeClock();
  return {services: new LocalServices({services: [WEB], clusterDomain: '', clock}), clock};
}

function running(ip: string, ready = true): PodStatus {
  const status = ready ? 'True' : 'False';
  return {phase: 'Running', podIPs: [{ip}], conditions: [{type: 'Ready', status}]};
}

/** Reports whether the promise has settled when all pending microtasks have run. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

test('containers wait for the sandbox of the pod behind a Service, and get its address and port', async () => {
  const {services} = create();
  services.add(server, {isAwaited: true});
  services.add(client, {isAwaited: true});
  const ready = services.sandboxReady(client, ['10.0.0.2'], signal);
  expect(await isSettled(ready)).toBe(false);
  await services.sandboxReady(server, ['10.0.0.1'], signal);
  await ready;
  expect(services.variables(client).get('WEB_SERVICE_HOST')).toBe('10.0.0.1');
  expect(services.variables(client).get('WEB_SERVICE_PORT')).toBe('8080');
  expect(services.variables(client).get('WEB_PORT_80_TCP')).toBe('tcp://10.0.0.1:8080');
});

test('two pods that use the Services of each other do not wait forever', async () => {
  const {services} = create();
  services.setServices([
    WEB,
    {...WEB, metadata: {name: 'peer', namespace: 'default'}, spec: {...WEB.spec, selector: {app: 'peer'}}},
  ]);
  const peer = aPod({}, {name: 'peer', uid: 'peer', labels: {app: 'peer'}});
  for (const pod of [server, peer]) services.add(pod, {isAwaited: true});
  await Promise.all([
    services.sandboxReady(server, ['10.0.0.1'], signal),
    services.sandboxReady(peer, ['10.0.0.2'], signal),
  ]);
});

test.each<[string, (services: LocalServices) => void]>([
  [
    'whose sync has failed',
    (services) => {
      services.settle('server');
    },
  ],
  [
    'that was removed',
    (services) => {
      services.remove('server');
    },
  ],
  [
    'that has ended',
    (services) => {
      services.update(server, {phase: 'Succeeded'});
    },
  ],
])('containers do not wait for a pod %s', async (_title, change) => {
  const {services} = create();
  services.add(server, {isAwaited: true});
  services.add(client);
  const ready = services.sandboxReady(client, ['10.0.0.2'], signal);
  expect(await isSettled(ready)).toBe(false);
  change(services);
  services.setServices([WEB]);
  await ready;
  expect(services.variables(client).size).toBe(0);
});

test('containers wait for 10 s after the last change of a pod, and for 60 s at most', async () => {
  const {services, clock} = create();
  services.add(server, {isAwaited: true});
  services.add(client);
  const ready = services.sandboxReady(client, ['10.0.0.2'], signal);
  await clock.advance(9_000);
  services.update(client, running('10.0.0.2'));
  await clock.advance(0);
  await clock.advance(9_000);
  expect(await isSettled(ready)).toBe(false);
  await clock.advance(1_000);
  await ready;

  // Nothing waits for a pod again that had no address in time.
  await services.sandboxReady(client, ['10.0.0.2'], signal);
  services.remove('server');
  services.add(server, {isAwaited: true});
  let settled = false;
  const again = services.sandboxReady(client, ['10.0.0.2'], signal).then(() => (settled = true));
  for (let seconds = 0; seconds < 60; seconds += 6) {
    expect(settled).toBe(false);
    services.update(client, running('10.0.0.2', seconds % 12 === 6));
    await clock.advance(0);
    await clock.advance(6_000);
  }
  await again;
});

test('the wait for the addresses of Services ends with the signal', async () => {
  const {services} = create();
  services.add(server, {isAwaited: true});
  const stop = new AbortController();
  const stopped = services.sandboxReady(client, ['10.0.0.2'], stop.signal);
  stop.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
});

test('containers do not wait without service links, for headless Services or Services without pods', async () => {
  const {services} = create();
  await services.sandboxReady(client, ['10.0.0.2'], signal);
  services.add(server, {isAwaited: true});
  const unlinked: Pod = {...client, spec: {...client.spec, enableServiceLinks: false}};
  await services.sandboxReady(unlinked, ['10.0.0.2'], signal);
  expect(services.variables(unlinked).size).toBe(0);
  services.setServices([{...WEB, spec: {...WEB.spec, clusterIP: 'None'}}]);
  await services.sandboxReady(client, ['10.0.0.2'], signal);
});

test('the address of a sandbox that has ended is not used', () => {
  const {services} = create();
  services.add(server);
  const conditions = [{type: 'PodReadyToStartContainers', status: 'False'}] as const;
  services.update(server, {...running('10.0.0.1'), conditions});
  expect(services.hosts(client)).toEqual([]);
});

test('listeners are called when the pods behind Services change, and only then', () => {
  const {services} = create();
  services.add(server);
  let calls = 0;
  const stop = services.onChange(() => (calls += 1));
  services.update(server, running('10.0.0.1', false));
  services.update(server, running('10.0.0.1', false));
  expect(calls).toBe(1);
  services.update(server, running('10.0.0.1'));
  services.remove('server');
  expect(calls).toBe(3);
  stop();
  services.setServices([]);
  expect(calls).toBe(3);
});

test('an older pod is an endpoint until a pod of the sync has an address', () => {
  const {services} = create();
  const older = aPod({}, {name: 'older', uid: 'older', labels: {app: 'web'}});
  services.addOlder(older, running('10.0.0.9'));
  services.add(server);
  const host = (): string | undefined => services.variables(client).get('WEB_SERVICE_HOST');
  expect(host()).toBe('10.0.0.9');
  services.update(server, running('10.0.0.1'));
  expect(host()).toBe('10.0.0.1');
  expect(services.hosts(client).map(({ip}) => ip)).toEqual(['10.0.0.1', '10.0.0.9']);
});

test('a plan shows placeholders', async () => {
  const {services} = create();
  services.addPlanned(server);
  const objects = withLocalServices(NO_OBJECTS, services);
  await objects.sandboxReady?.(server, ['<pod IP>'], signal);
  expect(objects.serviceVariables?.(client).get('WEB_PORT')).toBe('tcp://<IP of default/server>:8080');
  expect(objects.serviceHosts?.(client)[0]?.ip).toBe('<IP of default/server>');
});
