import type {Secret} from '../../../src/api/v1-objects.js';
import type {Pod} from '../../../src/api/v1.js';
import {CriError, imageId, imageRef, type Image, type ImageSpec, type Init} from '../../../src/cri/index.js';
import {containerEvents, type PodEvent} from '../../../src/kubelet/container/events.js';
import type {KubeImageService} from '../../../src/kubelet/container/services.js';
import type {PullSecrets} from '../../../src/kubelet/images/credentials/pull-secrets.js';
import {
  ImageManager,
  type ImageManagerOptions,
  type ImageOutcome,
  type ImageRequest,
} from '../../../src/kubelet/images/image-manager.js';
import {FilePullRecords} from '../../../src/kubelet/images/records/pull-records.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aClock} from './a-clock.js';

/** The image of the tests. */
export const APP = 'r.example/app:1';

/** Who pulls. */
export interface Auth {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** A pod's own Secrets. */
export const withSecrets = (...secrets: readonly Secret[]): PullSecrets => ({secrets, missing: []});
const NO_SECRETS = withSecrets();

/** A runtime with one registry; `pull` says what a pull does. */
export function aRuntime(
  pull: (image: string, auth: Auth | undefined) => void | Promise<void> = () => undefined,
) {
  const present = new Set<string>();
  const calls: string[] = [];
  /** What was pulled. */
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

/** What a runtime says of a pull that failed. */
export const refused = (grpcCode: 'UNKNOWN' | 'NOT_FOUND', details: string): CriError =>
  new CriError({method: 'PullImage', endpoint: 'unix:///test', grpcCode, details});

/** A Secret with a login for the tests' registry. */
export const aSecret = (name: string, username: string, password = 's'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name, namespace: 'default'},
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(JSON.stringify({auths: {'r.example': {username, password}}})),
  },
});

/** An image manager with a root directory of its own, and a pod that asks it. */
export async function aScene(runtime = aRuntime(), options: Partial<ImageManagerOptions> = {}) {
  const rootDir = await temporaryDirectory();
  const clock = aClock();
  const events: PodEvent[] = [];
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'p', namespace: 'default', uid: 'u1', annotations: {note: 'x'}},
    spec: {containers: []},
  };
  const manager = new ImageManager({clock, records: new FilePullRecords(rootDir), ...options});
  const ensure = async (
    request: Partial<ImageRequest> = {},
    signal = new AbortController().signal,
  ): Promise<ImageOutcome> =>
    await manager.ensureImageExists(
      {
        pod,
        image: APP,
        pullPolicy: 'IfNotPresent',
        events: containerEvents((event) => events.push(event), pod, 'containers', 'web'),
        sandboxConfig: {},
        runtimeHandler: 'kata',
        pullSecrets: NO_SECRETS,
        service: runtime.service,
        ...request,
      },
      signal,
    );
  const said = (): readonly string[] =>
    events.map(({type, reason, message}) => `${type} ${reason}: ${message}`);
  return {ensure, clock, rootDir, said, manager, ...runtime};
}

/** The failure's reason, or what there is. */
export const reasonOf = (outcome: ImageOutcome): string =>
  outcome.kind === 'failed' ? outcome.failure.reason : outcome.imageRef;
