import {expect, test} from 'vitest';
import {connect, containerId, isNotFound, podSandboxId} from '../../../src/cri/index.js';
import {PLANNED_POD_IP, createPlannedServices} from '../../../src/kubelet/plan/planned-services.js';
import {aContainer, anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';

const OPTIONS = {exitsAtOnce: (name: string) => name === 'setup'};
const LABELS = {app: 'web'};

async function startPlannedServices(options: Parameters<typeof FakeRuntime.start>[0] = {}) {
  const fake = await FakeRuntime.start(options);
  const connection = connect(fake.endpoint);
  return {
    fake,
    ...createPlannedServices(connection, OPTIONS),
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await fake.stop();
    },
  };
}

const sandbox = {metadata: {name: 'web', namespace: 'default', attempt: 0}, labels: LABELS};

test('planned pods are listed beside real ones without calls to the runtime', async () => {
  await using services = await startPlannedServices({containers: [aContainer({labels: LABELS})]});
  const {runtime, fake} = services;
  const {podSandboxId: id} = await runtime.runPodSandbox({config: sandbox});
  expect(id).toBe('<sandbox default/web/0>');
  const {status} = await runtime.podSandboxStatus({podSandboxId: id});
  expect(status).toMatchObject({state: 'SANDBOX_READY', network: {ip: PLANNED_POD_IP}, labels: LABELS});
  const config = {metadata: {name: 'main', attempt: 0}, image: {image: BUSYBOX}, labels: LABELS};
  await runtime.createContainer({podSandboxId: id, config, sandboxConfig: sandbox});
  const filter = {labelSelector: LABELS};
  const {containers} = await runtime.listContainers({filter});
  expect(containers.map(({id, state}) => [id === fake.containers[0]!.id ? 'real' : id, state])).toEqual([
    ['real', 'CONTAINER_RUNNING'],
    ['<container main/0>', 'CONTAINER_CREATED'],
  ]);
  expect((await runtime.listContainers({filter: {labelSelector: {app: 'other'}}})).containers).toEqual([]);
  expect(fake.sandboxes).toHaveLength(1);
  expect(fake.containers).toHaveLength(1);
});

test('a signal is handled between two planned containers', async () => {
  await using services = await startPlannedServices();
  let isHandled = false;
  setImmediate(() => {
    isHandled = true;
  });
  await services.runtime.createContainer({config: {metadata: {name: 'main', attempt: 0}}});
  expect(isHandled).toBe(true);
});

test.each([
  ['setup', 'CONTAINER_EXITED'],
  ['main', 'CONTAINER_RUNNING'],
])('the container %s started in a plan is in the state %s', async (name, state) => {
  await using services = await startPlannedServices();
  const {runtime} = services;
  const {podSandboxId: id} = await runtime.runPodSandbox({config: sandbox});
  const config = {metadata: {name, attempt: 0}, image: {image: BUSYBOX}};
  const {containerId: created} = await runtime.createContainer({
    podSandboxId: id,
    config,
    sandboxConfig: sandbox,
  });
  await runtime.startContainer({containerId: created});
  expect((await runtime.containerStatus({containerId: created})).status).toMatchObject({state, exitCode: 0});
});

test('stops and removals are visible in the plan, but not in the runtime', async () => {
  await using services = await startPlannedServices({containers: [aContainer()]});
  const {runtime, fake} = services;
  const [real] = fake.containers;
  const id = containerId(real!.id);
  const sandboxId = podSandboxId(real!.sandboxId);
  await runtime.stopContainer({containerId: id, timeout: 2n});
  await runtime.stopPodSandbox({podSandboxId: sandboxId});
  expect((await runtime.containerStatus({containerId: id})).status?.state).toBe('CONTAINER_EXITED');
  expect((await runtime.podSandboxStatus({podSandboxId: sandboxId})).status?.state).toBe('SANDBOX_NOTREADY');
  await runtime.removeContainer({containerId: id});
  await runtime.removePodSandbox({podSandboxId: sandboxId});
  expect((await runtime.listContainers()).containers).toEqual([]);
  expect((await runtime.listPodSandbox()).items).toEqual([]);
  await expect(runtime.containerStatus({containerId: id})).rejects.toSatisfy(isNotFound);
  expect(fake.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
});

test('an image pulled in a plan is present afterwards', async () => {
  await using services = await startPlannedServices({images: [], registry: [anImage()]});
  const {images, fake} = services;
  expect((await images.imageStatus({image: {image: BUSYBOX}})).image).toBeUndefined();
  await images.pullImage({image: {image: BUSYBOX}});
  expect((await images.imageStatus({image: {image: BUSYBOX}})).image).toMatchObject({repoTags: [BUSYBOX]});
  expect(fake.images).toEqual([]);
});
