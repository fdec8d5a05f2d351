import {podUid, type Connection, type ContainerId, type PodSandboxId} from '../../../src/cri/index.js';

/** A pod with one running container. */
export interface RunningPod {
  readonly podSandboxId: PodSandboxId;
  readonly containerId: ContainerId;
  readonly ip: string;
}

/** What may differ between pods. */
export interface PodOptions {
  readonly name?: string;
  readonly cgroupParent?: string;
  readonly hostPort?: number;
  /** What the container runs; it sleeps unless given. */
  readonly command?: readonly string[];
  /** Of the sandbox and its container. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Runs a pod through CRI alone, whose container sleeps unless told otherwise. */
export async function runPod({runtime}: Connection, options: PodOptions = {}): Promise<RunningPod> {
  const {name = 'sleeper', cgroupParent = '', hostPort, command = ['sleep', '3600'], labels = {}} = options;
  const config = {
    metadata: {name, uid: podUid(`uid-of-${name}`), namespace: 'kcri-e2e'},
    labels,
    portMappings: hostPort === undefined ? [] : [{containerPort: 80, hostPort}],
    linux: {cgroupParent},
  };
  const {podSandboxId} = await runtime.runPodSandbox({config});
  const {containerId} = await runtime.createContainer({
    podSandboxId,
    config: {
      metadata: {name: 'main'},
      image: {image: 'docker.io/library/busybox:1.36'},
      command,
      labels,
    },
    sandboxConfig: config,
  });
  await runtime.startContainer({containerId});
  const {status} = await runtime.podSandboxStatus({podSandboxId});
  return {podSandboxId, containerId, ip: status?.network?.ip ?? ''};
}

/** The container's state, such as `CONTAINER_RUNNING`. */
export async function containerState(
  {runtime}: Connection,
  containerId: ContainerId,
): Promise<string | undefined> {
  const {status} = await runtime.containerStatus({containerId});
  return status?.state;
}
