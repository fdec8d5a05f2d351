import type {Secret} from '../../../../src/api/types/v1-objects.js';
import {
  CriError,
  imageId,
  imageRef,
  type Image,
  type ImageSpec,
  type Init,
} from '../../../../src/cri/index.js';
import {createContainerEventRecorder, type PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import type {KubeImageService} from '../../../../src/kubelet/contract/kube-services.js';
import type {PullSecrets} from '../../../../src/kubelet/managers/images/credentials/pull-secrets.js';
import {
  ImageManager,
  type ImageManagerOptions,
  type ImageResult,
  type ImageRequest,
} from '../../../../src/kubelet/managers/images/image-manager.js';
import {FilePullRecordsAccessor} from '../../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';

/** Default image of the tests. */
export const APP = 'r.example/app:1';

/** Login of a pull. */
export interface Auth {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** Returns pull secrets of a pod. */
export const withSecrets = (...secrets: readonly Secret[]): PullSecrets => ({secrets, missing: []});
const NO_SECRETS = withSecrets();

/** Creates an image service that records calls; `pull` runs for each pull and may throw. */
export function aRuntime(
  pull: (image: string, auth: Auth | undefined) => void | Promise<void> = () => undefined,
) {
  const present = new Set<string>();
  const calls: string[] = [];
  /** Image specs of all pulls. */
  const specs: Init<ImageSpec>[] = [];
  const imageOf = (name: string): Image => ({
    id: imageId(`sha256:${name}`),
    repoTags: [name],
    repoDigests: [],
    size: 1_032_138n,
    username: '',
    pinned: false,
  });
  const service: KubeImageService = {
    imageStatus: async ({image} = {}) => {
      const name = image?.image ?? '';
      calls.push(`ImageStatus ${name}`);
      return present.has(name) ? {info: {}, image: imageOf(name)} : {info: {}};
    },
    listImages: async () => ({images: [...present].map(imageOf)}),
    imageFsInfo: async () => ({imageFilesystems: [], containerFilesystems: []}),
    pullImage: async ({image, auth} = {}, options) => {
      const name = image?.image ?? '';
      calls.push(`PullImage ${[name, ...(auth === undefined ? [] : [auth.username])].join(' ')}`);
      specs.push(image ?? {});
      await pull(name, auth);
      options?.signal?.throwIfAborted();
      present.add(name);
      return {imageRef: imageRef(`sha256:${name}`)};
    },
  };
  return {service, calls, specs, present};
}

/** Returns the error of a failed pull. */
export const pullError = (grpcCode: 'UNKNOWN' | 'NOT_FOUND', details: string): CriError =>
  new CriError({method: 'PullImage', endpoint: 'unix:///test', grpcCode, details});

/** Creates a Secret with a login for the registry of the tests. */
export const aSecret = (name: string, username: string, password = 's'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name, namespace: 'default'},
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(JSON.stringify({auths: {'r.example': {username, password}}})),
  },
});

/** Creates an image manager with its own root directory, and a pod that requests images from it. */
export async function createImageFixture(runtime = aRuntime(), options: Partial<ImageManagerOptions> = {}) {
  const rootDir = await temporaryDirectory();
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const events: PodEvent[] = [];
  const pod = aPod({}, {name: 'p', uid: 'u1', annotations: {note: 'x'}});
  const manager = new ImageManager({clock, records: new FilePullRecordsAccessor(rootDir), ...options});
  const ensure = async (
    request: Partial<ImageRequest> = {},
    signal = new AbortController().signal,
  ): Promise<ImageResult> =>
    await manager.ensureImageExists(
      {
        pod,
        image: APP,
        pullPolicy: 'IfNotPresent',
        events: createContainerEventRecorder((event) => events.push(event), pod, 'containers', 'web'),
        sandboxConfig: {},
        runtimeHandler: 'kata',
        pullSecrets: NO_SECRETS,
        service: runtime.service,
        ...request,
      },
      signal,
    );
  const eventLines = (): readonly string[] =>
    events.map(({type, reason, message}) => `${type} ${reason}: ${message}`);
  return {ensure, clock, rootDir, eventLines, manager, ...runtime};
}

/** Returns the reason of a failure, or the image reference. */
export const reasonOf = (result: ImageResult): string =>
  result.kind === 'failed' ? result.failure.reason : result.imageRef;
