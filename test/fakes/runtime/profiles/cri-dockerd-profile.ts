import {GrpcStatusError, unknownError} from '../grpc-status-error.js';
import type {ImageRecord} from '../runtime-records.js';
import {CONTAINERD_2, FAKE} from './containerd-profiles.js';
import type {ImageReferences, RuntimeProfile} from './runtime-profile.js';

/** Exit code of Docker for a command that does not exist. */
const COMMAND_NOT_FOUND = 127;

/** cri-dockerd with Docker 26, after core/*.go. */
export const CRI_DOCKERD: RuntimeProfile = {
  ...FAKE,
  runtimeName: 'docker',
  runtimeVersion: '26.1.5+dfsg1',
  unimplemented: [
    ...CONTAINERD_2.unimplemented,
    'GetContainerEvents',
    'CheckpointContainer',
    'PodSandboxStats',
    'ListPodSandboxStats',
  ],
  findsSandboxPrefix: false,
  hasFullStats: false,
  reopenError: 'docker does not support reopening container log files',
  pulledRef: ({id, repoDigests: [digest]}) => digest ?? id,
  listedImage: (_image, imageId) => ({imageRef: imageId, imageId: ''}),
  shownImage,
  // It looks the image up by its full ID only, and takes any other reference for a removed image.
  removalScope: (reference, {id}) => (reference === id ? 'image' : 'nothing'),
  notFound: (_kind, id) => unknownError(`Error response from daemon: No such container: ${id}`),
  notRunning: ({id}) => unknownError(`container not running (${id})`),
  execTimedOut: () => {
    throw new GrpcStatusError('DEADLINE_EXCEEDED', 'context deadline exceeded');
  },
  execNotStarted: (cause) => {
    const output = `OCI runtime exec failed: exec failed: unable to start container process: ${cause}: unknown\r\n`;
    return {stdout: Buffer.from(output), stderr: Buffer.alloc(0), exitCode: COMMAND_NOT_FOUND};
  },
  streamingUrl: ({base, method, token}) => `${base.replace(/^https?:/, '')}/cri/${method}/${token}`,
  runtimeInfo: () => ({config: JSON.stringify({sandboxImage: 'registry.k8s.io/pause:3.10'})}),
  // PodSandboxStatus has no info.
  sandboxInfo: () => ({}),
  containerInfo: ({sandboxId, state}) => ({
    sandboxID: sandboxId,
    pid: state === 'CONTAINER_RUNNING' ? 4322 : 0,
  }),
};

function shownImage(image: ImageRecord | undefined, imageId: string): ImageReferences {
  const [digest] = image?.repoDigests ?? [];
  const imageRef = digest === undefined ? `docker://${imageId}` : `docker-pullable://${digest}`;
  return {imageRef, imageId: ''};
}
