import {describe, test} from 'vitest';
import {aSandbox} from '../../fake-runtime.js';
import {runContainer, SANDBOX_CONFIG, startConnectedFakeRuntime} from '../../connected-fake-runtime.js';

describe('sandboxes', () => {
  test('a sandbox has a 64-hex ID, an address and the state READY', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    const {status} = await started.connection.runtime.podSandboxStatus({podSandboxId});
    expect(podSandboxId).toMatch(/^[0-9a-f]{64}$/);
    expect(status).toMatchObject({id: podSandboxId, state: 'SANDBOX_READY', network: {ip: '10.244.0.2'}});
  });

  test("a sandbox in the host's network has no address", async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const linux = {securityContext: {namespaceOptions: {network: 'NODE'}}} as const;
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({
      config: {...SANDBOX_CONFIG, linux},
    });
    const {status} = await started.connection.runtime.podSandboxStatus({podSandboxId});
    expect(status?.network?.ip).toBe('');
  });

  test('a duplicate pod and attempt is rejected, the next attempt is accepted', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    await expect(started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG})).rejects.toThrow(
      `failed to reserve sandbox name "web_default_u1_0": name "web_default_u1_0" is reserved for "${podSandboxId}"`,
    );
    const next = {...SANDBOX_CONFIG, metadata: {...SANDBOX_CONFIG.metadata, attempt: 1}};
    await expect(started.connection.runtime.runPodSandbox({config: next})).resolves.toHaveProperty(
      'podSandboxId',
    );
  });

  test.for([
    {what: 'no metadata', request: {config: {}}, text: 'sandbox config must include metadata'},
    {
      what: 'an unknown handler',
      request: {config: SANDBOX_CONFIG, runtimeHandler: 'kata'},
      text: 'no runtime for "kata" is configured',
    },
  ])('RunPodSandbox with $what is rejected', async ({request, text}, {expect}) => {
    await using started = await startConnectedFakeRuntime();
    await expect(started.connection.runtime.runPodSandbox(request)).rejects.toThrow(text);
    expect(started.fake.sandboxes).toEqual([]);
  });

  test('a sandbox is rejected while the network is not ready', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.setCondition('NetworkReady', false, {reason: 'NetworkPluginNotReady'});
    await expect(started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG})).rejects.toThrow(
      'cni config not initialized',
    );
  });

  test('stopping stops the containers and the network, and is idempotent', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await runContainer(started);
    await started.connection.runtime.stopPodSandbox({podSandboxId});
    await started.connection.runtime.stopPodSandbox({podSandboxId});
    expect(started.fake.sandboxes).toMatchObject([{state: 'SANDBOX_NOTREADY', ips: []}]);
    expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_EXITED', exitCode: 137}]);
  });

  test('removing removes the containers', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await runContainer(started);
    await started.connection.runtime.removePodSandbox({podSandboxId});
    expect(started.fake.sandboxes).toEqual([]);
    expect(started.fake.containers).toEqual([]);
  });

  test('stopping and removing an unknown sandbox succeeds, and its status is an error', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const podSandboxId = 'gone' as never;
    await started.connection.runtime.stopPodSandbox({podSandboxId});
    await started.connection.runtime.removePodSandbox({podSandboxId});
    await expect(started.connection.runtime.podSandboxStatus({podSandboxId})).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: 'an error occurred when try to find sandbox: not found',
    });
  });

  test.for([
    {filter: {}, names: ['a', 'b', 'c']},
    {filter: {state: {state: 'SANDBOX_READY'}}, names: ['a', 'b']},
    {filter: {labelSelector: {tier: 'front'}}, names: ['a']},
    {filter: {id: 'aa'}, names: ['a']},
    {filter: {id: 'a'}, names: []},
  ] as const)('ListPodSandbox with $filter returns $names', async ({filter, names}, {expect}) => {
    const sandboxes = [
      aSandbox({id: 'aa1', name: 'a', labels: {tier: 'front'}}),
      aSandbox({id: 'ab1', name: 'b'}),
      aSandbox({id: 'ab2', name: 'c', state: 'SANDBOX_NOTREADY'}),
    ];
    await using started = await startConnectedFakeRuntime({sandboxes});
    const {items} = await started.connection.runtime.listPodSandbox({filter: filter as never});
    expect(items.map((item) => item.metadata?.name)).toEqual(names);
  });
});
