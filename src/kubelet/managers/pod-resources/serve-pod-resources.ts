import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import {TokenBucket} from '../../../base/async/token-bucket.js';
import {rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import {
  alphaPodResourcesService,
  podResourcesService,
  type ServedService,
} from '../../../plugin-api/served-service.js';
import {serveSocket} from '../../../plugin-api/serve-socket.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import {
  describeAllocatable,
  describeAlphaPodResources,
  describePodResources,
} from './describe-pod-resources.js';

/** Limit of the calls (DefaultPodResourcesQPS, DefaultPodResourcesBurstTokens). */
const LIMIT = {perSecond: 100, burst: 10};

type Services = Pick<
  NodeManagerServices,
  'node' | 'clock' | 'logger' | 'metrics' | 'knownPods' | 'activePods' | 'podResources'
>;

/**
 * Serves the pod resources API below the root directory until the signal aborts. An error is logged: pods do not need it (kubelet
 * ListenAndServePodResources).
 */
export async function servePodResources(services: Services, signal: AbortSignal): Promise<void> {
  const logger = services.logger.forFile('serve-pod-resources.ts');
  const directory = join(services.node.rootDir, 'pod-resources');
  const onError = (error: unknown): void => {
    logger.error(error, 'Failed to serve');
  };
  const limit = new TokenBucket(LIMIT, services.clock);
  const options = {onError, admits: () => limit.tryTake()};
  try {
    await withFileErrors('creating', directory, () => mkdir(directory, {recursive: true, mode: 0o750}));
    const server = await serveSocket(join(directory, 'kubelet.sock'), servicesOf(services), options);
    onAbort(signal, () => {
      server.close().catch(onError);
    });
  } catch (error) {
    rethrowUnexpected(error);
    onError(error);
  }
}

/** Only List of v1 leaves ended pods out, as in a kubelet. */
function servicesOf({
  knownPods,
  activePods,
  podResources: providers,
  metrics,
}: Services): readonly ServedService[] {
  const version = 'v1';
  return [
    podResourcesService({
      list: async () => {
        metrics.podResourcesRequested({version, method: 'list'});
        return {podResources: activePods().map((pod) => describePodResources(pod, providers))};
      },
      getAllocatableResources: async () => {
        metrics.podResourcesRequested({version, method: 'get_allocatable'});
        return describeAllocatable(providers);
      },
      get: async ({podName, podNamespace}) => {
        const pod = knownPods().find(
          ({metadata: {name, namespace}}) => name === podName && namespace === podNamespace,
        );
        metrics.podResourcesRequested({version, method: 'get', isFailed: pod === undefined});
        if (pod === undefined) throw new SystemError(`pod ${podName} in namespace ${podNamespace} not found`);
        return {podResources: describePodResources(pod, providers)};
      },
    }),
    alphaPodResourcesService({
      list: async () => {
        metrics.podResourcesRequested({version: 'v1alpha1'});
        return {podResources: knownPods().map((pod) => describeAlphaPodResources(pod, providers))};
      },
    }),
  ];
}
