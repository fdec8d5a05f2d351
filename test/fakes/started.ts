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

/** The pod of the fake's own tests. */
export const SANDBOX: Init<PodSandboxConfig> = {
  metadata: {name: 'web', namespace: 'default', uid: podUid('u1'), attempt: 0},
};

/** The container of the fake's own tests: sleeps, unless told otherwise. */
export function config(overrides: Init<ContainerConfig> = {}): Init<ContainerConfig> {
  return {
    metadata: {name: 'main', attempt: 0},
    image: {image: BUSYBOX},
    command: ['sleep', '3600'],
    ...overrides,
  };
}

/** A fake runtime and a connection to it; both end together. */
export interface Started extends AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly cri: Connection;
}

export async function start(options: FakeRuntimeOptions = {}): Promise<Started> {
  const fake = await FakeRuntime.start(options);
  const cri = connect(fake.endpoint);
  return {
    fake,
    cri,
    [Symbol.asyncDispose]: async () => {
      cri.close();
      await fake.stop();
    },
  };
}

/** A pod with one started container. */
export async function runOne(
  {cri}: Started,
  overrides: Init<ContainerConfig> = {},
): Promise<{podSandboxId: PodSandboxId; containerId: ContainerId}> {
  const {podSandboxId} = await cri.runtime.runPodSandbox({config: SANDBOX});
  const {containerId} = await cri.runtime.createContainer({
    podSandboxId,
    config: config(overrides),
    sandboxConfig: SANDBOX,
  });
  await cri.runtime.startContainer({containerId});
  return {podSandboxId, containerId};
}
