import {SystemError} from '../../../base/errors.js';
import type {RuntimeService} from '../../../cri/index.js';
import type {KubeServices} from '../../contract/kube-services.js';

/**
 * Creates the services of a runtime that no longer exists, nor do its containers. Lists are empty, so that deleting a
 * pod finds no container to stop; other calls reject with SystemError.
 */
export function createUnavailableRuntime(
  endpoint: string,
): KubeServices & {readonly runtime: Pick<RuntimeService, 'runtimeConfig' | 'status'>} {
  const refuse = async (): Promise<never> => {
    throw new SystemError(`the runtime at "${endpoint}" does not exist`, {
      hint: 'start one with "kcri runtime up"',
    });
  };
  return {
    runtime: {
      listPodSandbox: async () => ({items: []}),
      listContainers: async () => ({containers: []}),
      version: refuse,
      status: async () => ({info: {}, runtimeHandlers: []}),
      runtimeConfig: refuse,
      runPodSandbox: refuse,
      stopPodSandbox: refuse,
      removePodSandbox: refuse,
      podSandboxStatus: refuse,
      createContainer: refuse,
      startContainer: refuse,
      stopContainer: refuse,
      removeContainer: refuse,
      containerStatus: refuse,
      execSync: refuse,
      updateContainerResources: refuse,
      updatePodSandboxResources: refuse,
      containerStats: refuse,
    },
    images: {imageStatus: refuse, listImages: refuse, pullImage: refuse, imageFsInfo: refuse},
  };
}
