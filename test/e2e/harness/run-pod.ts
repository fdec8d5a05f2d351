import {podUid, type Connection, type ContainerId, type PodSandboxId} from '../../../src/cri/index.js';

/** A pod with one running container. */
export interface RunningPod {
  readonly podSandboxId: PodSandboxId;
  readonly containerId: ContainerId;
  readonly ip: string;
}

/** Options of runPod. */
export interface PodOptions {
  readonly name?: string;
  readonly cgroupParent?: string;
  readonly hostPort?: number;
  /** Command line of the container; it sleeps by default. */
  readonly command?: readonly string[];
  /** Labels of the sandbox and of its container. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Runs a pod with CRI calls only. Its container sleeps by default. */
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

/** Returns the container's state, such as `CONTAINER_RUNNING`. */
export async function containerState(
  {runtime}: Connection,
  containerId: ContainerId,
): Promise<string | undefined> {
  const {status} = await runtime.containerStatus({containerId});
  return status?.state;
}
