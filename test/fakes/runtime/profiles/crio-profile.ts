import {GrpcStatusError, unknownError} from '../grpc-status-error.js';
import type {ContainerRecord, SandboxRecord} from '../runtime-records.js';
import {FAKE, UNRELEASED} from './containerd-profiles.js';
import type {RuntimeProfile} from './runtime-profile.js';

/** CRI-O 1.37 with its default configuration, after server/*.go. */
export const CRIO: RuntimeProfile = {
  ...FAKE,
  runtimeName: 'cri-o',
  runtimeVersion: '1.37.0',
  unimplemented: UNRELEASED,
  buffersEvents: true,
  // enable_pod_events is false by default.
  sendsEvents: false,
  filtersImages: true,
  imageId: (digest) => digest.replace(/^sha256:/, ''),
  pulledRef: ({id, repoDigests: [digest]}) => digest ?? id,
  listedImage: (image, imageId) => ({imageRef: image?.repoDigests[0] ?? imageId, imageId}),
  removalScope: (reference, {id, repoTags}) =>
    repoTags.length <= 1 || id.startsWith(reference.replace(/^sha256:/, '')) ? 'image' : 'tag',
  notFound: (kind, id) => {
    const [what, object] = kind === 'container' ? ['container', 'container'] : ['pod', 'PodSandbox'];
    return new GrpcStatusError(
      'NOT_FOUND',
      `could not find ${what} "${id}": ${object} with ID starting with ${id} not found: ID does not exist`,
    );
  },
  notRunning: () => new GrpcStatusError('NOT_FOUND', 'container is not created or running: state is stopped'),
  execTimedOut: () => ({stdout: Buffer.alloc(0), stderr: Buffer.from('command timed out'), exitCode: -1}),
  execNotStarted: (cause) => {
    const quoted = JSON.stringify(`exec failed: unable to start container process: ${cause}`);
    throw unknownError(
      `command error: time="2026-05-01T12:00:00Z" level=error msg=${quoted}\n, stdout: , stderr: , exit code -1`,
    );
  },
  runtimeInfo: () => ({
    config: JSON.stringify({sandboxImage: 'registry.k8s.io/pause:3.10.1', crio: {DefaultRuntime: 'crun'}}),
  }),
  sandboxInfo,
  containerInfo,
};

/** Returns the info of a sandbox, whose annotations include those of kubelet and CRI-O. */
function sandboxInfo({config}: SandboxRecord): object {
  const ports = config.portMappings
    .filter(({hostPort}) => hostPort > 0)
    .map(({hostPort, containerPort, protocol, hostIp}) => ({
      HostPort: hostPort,
      ContainerPort: containerPort,
      Protocol: protocol,
      HostIP: hostIp,
    }));
  const annotations = {...config.annotations, 'io.kubernetes.cri-o.PortMappings': JSON.stringify(ports)};
  return {image: '', pid: 4321, runtimeSpec: {hostname: config.hostname, annotations}};
}

function containerInfo({sandboxId, state, config}: ContainerRecord): object {
  const env = config.envs.map(({key, value}) => `${key}=${Buffer.from(value).toString()}`);
  return {
    sandboxID: sandboxId,
    pid: state === 'CONTAINER_RUNNING' ? 4322 : 0,
    runtimeSpec: {process: {args: [...config.command, ...config.args], env, cwd: config.workingDir || '/'}},
    privileged: false,
  };
}
