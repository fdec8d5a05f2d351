import {
  connect,
  podUid,
  type Connection,
  type ContainerConfig,
  type ContainerId,
  type Init,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../src/cri/index.js';
import {BUSYBOX, FakeRuntime, type FakeRuntimeOptions} from './fake-runtime.js';

/** Sandbox config of the fake's own tests. */
export const SANDBOX_CONFIG: Init<PodSandboxConfig> = {
  metadata: {name: 'web', namespace: 'default', uid: podUid('u1'), attempt: 0},
};

/** Returns a container config for the fake's own tests. It sleeps by default. */
export function aContainerConfig(overrides: Init<ContainerConfig> = {}): Init<ContainerConfig> {
  return {
    metadata: {name: 'main', attempt: 0},
    image: {image: BUSYBOX},
    command: ['sleep', '3600'],
    ...overrides,
  };
}

/** A fake runtime and a connection to it, which are disposed of together. */
export interface ConnectedFakeRuntime extends AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly connection: Connection;
}

export async function startConnectedFakeRuntime(
  options: FakeRuntimeOptions = {},
): Promise<ConnectedFakeRuntime> {
  const fake = await FakeRuntime.start(options);
  const cri = connect(fake.endpoint);
  return {
    fake,
    connection: cri,
    [Symbol.asyncDispose]: async () => {
      cri.close();
      await fake.stop();
    },
  };
}

/** Creates a pod with one running container. */
export async function runContainer(
  {connection}: ConnectedFakeRuntime,
  overrides: Init<ContainerConfig> = {},
): Promise<{podSandboxId: PodSandboxId; containerId: ContainerId}> {
  const {podSandboxId} = await connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
  const {containerId} = await connection.runtime.createContainer({
    podSandboxId,
    config: aContainerConfig(overrides),
    sandboxConfig: SANDBOX_CONFIG,
  });
  await connection.runtime.startContainer({containerId});
  return {podSandboxId, containerId};
}
