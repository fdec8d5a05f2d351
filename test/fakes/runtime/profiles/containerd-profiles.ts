import {GrpcStatusError, notFoundError, unimplementedError, unknownError} from '../grpc-status-error.js';
import type {Rpc} from '../cri-messages.js';
import type {RuntimeProfile} from './runtime-profile.js';

/** RPCs that no released runtime implements. */
export const UNRELEASED: readonly Rpc[] = ['CheckpointPod', 'RestorePod'];

/** RPCs of the CRI that containerd 2.1 does not implement. */
const MISSING_IN_2_1: readonly Rpc[] = [
  ...UNRELEASED,
  'ListMetricDescriptors',
  'ListPodSandboxMetrics',
  'UpdatePodSandboxResources',
  'StreamPodSandboxes',
  'StreamContainers',
  'StreamImages',
  'StreamContainerStats',
  'StreamPodSandboxStats',
  'StreamPodSandboxMetrics',
];

/** Containerd's code in all versions, with all RPCs: the default of the fake. */
export const FAKE: RuntimeProfile = {
  runtimeName: 'fake',
  runtimeVersion: 'v1.0.0',
  unimplemented: [],
  unimplementedError,
  buffersEvents: false,
  sendsEvents: true,
  pinsImages: true,
  reportsHandlers: true,
  filtersImages: false,
  findsSandboxPrefix: true,
  hasFullStats: true,
  imageId: (digest) => digest,
  pulledRef: ({id}) => id,
  listedImage: (_image, imageId) => ({imageRef: imageId, imageId}),
  shownImage: (image, imageId) => ({imageRef: image?.repoDigests[0] ?? imageId, imageId}),
  removalScope: () => 'image',
  notFound: (_kind, _id, failure) => notFoundError(failure),
  notRunning: ({state}, prefix) => unknownError(`${prefix}container is in ${state} state`),
  execTimedOut: (seconds) => {
    throw new GrpcStatusError(
      'DEADLINE_EXCEEDED',
      `failed to exec in container: timeout ${seconds}s exceeded: context deadline exceeded`,
    );
  },
  execNotStarted: (cause) => {
    throw unknownError(
      `failed to exec in container: failed to start exec "1": OCI runtime exec failed: exec failed: unable to start container process: ${cause}: unknown`,
    );
  },
  streamingUrl: ({base, method, token}) => `${base}/${method}/${token}`,
  runtimeInfo: () => ({
    config: JSON.stringify({sandboxImage: 'localhost:5000/pause:1'}),
    golang: JSON.stringify('go1.24.0'),
    lastCNILoadStatus: 'OK',
  }),
  sandboxInfo: ({runtimeHandler, config}) => ({pid: 4321, runtimeHandler, config}),
  containerInfo: ({sandboxId, state, config}) => {
    // The values of environment variables are not masked.
    const envs = config.envs.map(({key, value}) => ({key, value: Buffer.from(value).toString()}));
    return {
      sandboxID: sandboxId,
      pid: state === 'CONTAINER_RUNNING' ? 4322 : 0,
      removing: false,
      runtimeType: 'io.fake.v1',
      config: {...config, envs},
    };
  },
};

export const CONTAINERD_2: RuntimeProfile = {
  ...FAKE,
  runtimeName: 'containerd',
  runtimeVersion: 'v2.1.9',
  unimplemented: MISSING_IN_2_1,
  buffersEvents: true,
};

/** Lists of containers have no image ID yet (CRI of Kubernetes 1.31). */
export const CONTAINERD_1_7: RuntimeProfile = {
  ...CONTAINERD_2,
  runtimeVersion: '1.7.24',
  unimplemented: [...MISSING_IN_2_1, 'RuntimeConfig', 'CheckpointContainer'],
  reportsHandlers: false,
  listedImage: (_image, imageId) => ({imageRef: imageId, imageId: ''}),
  shownImage: (image, imageId) => ({imageRef: image?.repoDigests[0] ?? imageId, imageId: ''}),
};

/** RPCs that its CRI does not define have the text of grpc-go. */
export const CONTAINERD_1_6: RuntimeProfile = {
  ...CONTAINERD_1_7,
  runtimeVersion: '1.6.20~ds1',
  unimplemented: [...CONTAINERD_1_7.unimplemented, 'GetContainerEvents'],
  unimplementedError: (rpc) =>
    new GrpcStatusError('UNIMPLEMENTED', `unknown method ${rpc} for service runtime.v1.RuntimeService`),
  buffersEvents: false,
  pinsImages: false,
};
