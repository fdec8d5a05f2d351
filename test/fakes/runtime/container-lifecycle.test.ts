import {mkdir, readFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {type ContainerBehaviour} from './container-behaviour.js';
import {aContainer, anImage, aSandbox, BUSYBOX} from '../fake-runtime.js';
import {
  aContainerConfig,
  runContainer,
  SANDBOX_CONFIG,
  startConnectedFakeRuntime,
} from '../connected-fake-runtime.js';

describe('containers', () => {
  test('a container is created, started, stopped and removed', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {runtime} = started.connection;
    const {podSandboxId} = await runtime.runPodSandbox({config: SANDBOX_CONFIG});
    const {containerId} = await runtime.createContainer({
      podSandboxId,
      config: aContainerConfig(),
      sandboxConfig: SANDBOX_CONFIG,
    });
    const state = async () => (await runtime.containerStatus({containerId})).status?.state;
    const seen = [await state()];
    await runtime.startContainer({containerId});
    seen.push(await state());
    await runtime.stopContainer({containerId, timeout: 10n});
    seen.push(await state());
    await runtime.removeContainer({containerId});
    expect(seen).toEqual(['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED']);
    await expect(state()).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: `an error occurred when try to find container "${containerId}": not found`,
    });
  });

  test.for([
    {command: ['true'], exitCode: 0, reason: 'Completed'},
    {command: ['/bin/false'], exitCode: 1, reason: 'Error'},
    {command: ['sh', '-c', 'echo hello; exit 3'], exitCode: 3, reason: 'Error'},
  ])(
    '$command has exited with $exitCode when StartContainer returns',
    async ({command, exitCode, reason}, {expect}) => {
      await using started = await startConnectedFakeRuntime();
      const {containerId} = await runContainer(started, {command});
      const {status} = await started.connection.runtime.containerStatus({containerId});
      expect(status).toMatchObject({state: 'CONTAINER_EXITED', exitCode, reason});
      expect(status!.finishedAt).toBeGreaterThan(status!.startedAt);
    },
  );

  test.for([[['sleep', 'infinity']], [['httpd', '-f']], [['sh', '-c', 'while true; do date; done']]])(
    '%j keeps running',
    async ([command], {expect}) => {
      await using started = await startConnectedFakeRuntime();
      await runContainer(started, {command});
      expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
    },
  );

  test('a given behavior overrides the command line', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      behaviour: ({metadata}) => ({exitCode: metadata?.name === 'main' ? 7 : 0}),
    });
    await runContainer(started, {command: ['true']});
    expect(started.fake.containers).toMatchObject([{exitCode: 7}]);
  });

  test('a container with a run time exits by itself', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({behaviour: () => ({exitCode: 2, runForMs: 20})});
    await runContainer(started);
    await expect.poll(() => started.fake.containers[0]?.exitCode).toBe(2);
  });

  test('a container that cannot start has the exit code 128', async ({expect}) => {
    const startError = 'OCI runtime create failed: exec: "/nosuch": no such file or directory';
    await using started = await startConnectedFakeRuntime({
      behaviour: (): ContainerBehaviour => ({startError}),
    });
    await expect(runContainer(started)).rejects.toThrow(startError);
    expect(started.fake.containers).toMatchObject([
      {state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError'},
    ]);
  });

  test.for([
    {timeout: 10n, ignoresStop: false, exitCode: 143},
    {timeout: 0n, ignoresStop: false, exitCode: 137},
    {timeout: 1n, ignoresStop: true, exitCode: 137},
  ])(
    'stop with a timeout of $timeout s (ignored: $ignoresStop) ends with $exitCode',
    async ({timeout, ignoresStop, exitCode}, {expect}) => {
      await using started = await startConnectedFakeRuntime({
        containers: [aContainer({id: 'c1', ignoresStop})],
      });
      await started.connection.runtime.stopContainer({containerId: 'c1' as never, timeout});
      expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_EXITED', exitCode}]);
    },
  );

  test.for([
    {afterMs: 10, timeout: 10n, ends: 3},
    {afterMs: 5000, timeout: 1n, ends: 137},
  ])(
    'a process that needs $afterMs ms to exit with a timeout of $timeout s ends with $ends',
    async ({afterMs, timeout, ends}, {expect}) => {
      const onStop = {exitCode: 3, afterMs};
      await using started = await startConnectedFakeRuntime({
        behaviour: (): ContainerBehaviour => ({onStop}),
      });
      const {containerId} = await runContainer(started);
      await started.connection.runtime.stopContainer({containerId, timeout});
      expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_EXITED', exitCode: ends}]);
    },
  );

  test('stopping and removing an unknown container succeeds', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const containerId = 'gone' as never;
    await expect(started.connection.runtime.stopContainer({containerId})).resolves.toEqual({});
    await expect(started.connection.runtime.removeContainer({containerId})).resolves.toEqual({});
  });

  test('a running container is removed by force', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1'})]});
    await started.connection.runtime.removeContainer({containerId: 'c1' as never});
    expect(started.fake.containers).toEqual([]);
  });

  test('a container is found by its unambiguous ID prefix', async ({expect}) => {
    const containers = [aContainer({id: 'ab1', name: 'a'}), aContainer({id: 'ab2', name: 'b'})];
    await using started = await startConnectedFakeRuntime({containers});
    const one = await started.connection.runtime.containerStatus({containerId: 'ab1' as never});
    expect(one.status?.metadata?.name).toBe('a');
    await expect(started.connection.runtime.containerStatus({containerId: 'ab' as never})).rejects.toThrow(
      'an error occurred when try to find container "ab": Multiple IDs found with provided prefix: ab',
    );
  });

  test.for([
    {
      what: 'an unknown sandbox',
      change: {podSandboxId: 'gone'},
      code: 'NOT_FOUND',
      text: 'failed to find sandbox id "gone": not found',
    },
    {
      what: 'no metadata',
      change: {config: {image: {image: BUSYBOX}}},
      code: 'UNKNOWN',
      text: 'container config must include metadata',
    },
    {
      what: 'no sandbox config',
      change: {sandboxConfig: undefined},
      code: 'UNKNOWN',
      text: 'pod sandbox config must include metadata',
    },
    {
      what: 'an absent image',
      change: {config: aContainerConfig({image: {image: 'nosuch:1'}})},
      code: 'NOT_FOUND',
      text: 'failed to resolve image "nosuch:1": not found',
    },
    {
      what: 'a privileged container in a plain sandbox',
      change: {config: aContainerConfig({linux: {securityContext: {privileged: true}}})},
      code: 'UNKNOWN',
      text: 'no privileged container allowed in sandbox',
    },
    {
      what: 'a group without a user',
      change: {config: aContainerConfig({linux: {securityContext: {runAsGroup: {value: 5n}}}})},
      code: 'UNKNOWN',
      text: 'user group "5" is specified without user',
    },
    {
      what: 'a missing target container',
      change: {
        config: aContainerConfig({
          linux: {securityContext: {namespaceOptions: {pid: 'TARGET', targetId: 'gone'}}},
        }),
      },
      code: 'UNKNOWN',
      text: 'invalid target container: container "gone" does not exist: not found',
    },
  ])('CreateContainer with $what is rejected', async ({change, code, text}, {expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    const request = {
      podSandboxId,
      config: aContainerConfig(),
      sandboxConfig: SANDBOX_CONFIG,
      ...(change as object),
    };
    await expect(started.connection.runtime.createContainer(request)).rejects.toMatchObject({
      grpcCode: code,
      details: expect.stringContaining(text) as string,
    });
    expect(started.fake.containers).toEqual([]);
  });

  test('a name is reserved until its container is removed', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId, containerId} = await runContainer(started);
    const request = {podSandboxId, config: aContainerConfig(), sandboxConfig: SANDBOX_CONFIG};
    await expect(started.connection.runtime.createContainer(request)).rejects.toThrow(
      `is reserved for "${containerId}"`,
    );
    await started.connection.runtime.removeContainer({containerId});
    await expect(started.connection.runtime.createContainer(request)).resolves.toHaveProperty('containerId');
  });

  test('an image without a command needs a command', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({images: [anImage({cmd: []})]});
    await expect(runContainer(started, {command: []})).rejects.toThrow('no command specified');
  });

  test.for([
    {state: 'CONTAINER_RUNNING', text: 'container is in CONTAINER_RUNNING state'},
    {state: 'CONTAINER_EXITED', text: 'container is in CONTAINER_EXITED state'},
  ] as const)('a container in state $state cannot be started again', async ({state, text}, {expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1', state})]});
    await expect(started.connection.runtime.startContainer({containerId: 'c1' as never})).rejects.toThrow(
      text,
    );
  });

  test('ListContainers filters by sandbox, state and label', async ({expect}) => {
    const sandbox = aSandbox({id: 'f00d', name: 'db'});
    const containers = [
      aContainer({sandbox, name: 'one', labels: {app: 'x'}}),
      aContainer({sandbox, name: 'two', state: 'CONTAINER_EXITED', labels: {app: 'x'}}),
      aContainer({name: 'three', labels: {app: 'x'}}),
    ];
    await using started = await startConnectedFakeRuntime({containers});
    const {containers: listed} = await started.connection.runtime.listContainers({
      filter: {podSandboxId: 'f0' as never, state: {state: 'CONTAINER_RUNNING'}, labelSelector: {app: 'x'}},
    });
    expect(listed.map((each) => each.metadata?.name)).toEqual(['one']);
  });

  test('UpdateContainerResources changes the given fields only', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {containerId} = await runContainer(started, {linux: {resources: {cpuShares: 2n, cpuQuota: 100n}}});
    await started.connection.runtime.updateContainerResources({containerId, linux: {cpuShares: 512n}});
    const {status} = await started.connection.runtime.containerStatus({containerId});
    expect(status?.resources?.linux).toMatchObject({cpuShares: 512n, cpuQuota: 100n});
  });
});

describe('logs', () => {
  test('output is written to the log file in the CRI format', async ({expect}) => {
    const logDirectory = await temporaryDirectory();
    await mkdir(join(logDirectory, 'main'));
    await using started = await startConnectedFakeRuntime({
      behaviour: () => ({exitCode: 0, stdout: 'one\ntwo\nrest', stderr: 'oops\n'}),
    });
    const sandboxConfig = {...SANDBOX_CONFIG, logDirectory};
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: sandboxConfig});
    const request = {podSandboxId, config: aContainerConfig({logPath: 'main/0.log'}), sandboxConfig};
    const {containerId} = await started.connection.runtime.createContainer(request);
    await started.connection.runtime.startContainer({containerId});
    const log = await readFile(join(logDirectory, 'main/0.log'), 'utf8');
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z`;
    expect(log).toMatch(
      new RegExp(
        `^${time} stdout F one\n${time} stdout F two\n${time} stdout P rest\n${time} stderr F oops\n$`,
      ),
    );
  });

  test('a missing log directory makes the start fail', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const sandboxConfig = {...SANDBOX_CONFIG, logDirectory: join(tmpdir(), 'kcri-no-such-directory')};
    const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: sandboxConfig});
    const request = {podSandboxId, config: aContainerConfig({logPath: '0.log'}), sandboxConfig};
    const {containerId} = await started.connection.runtime.createContainer(request);
    await expect(started.connection.runtime.startContainer({containerId})).rejects.toThrow(
      'failed to create and open log file',
    );
  });
});
