import type {ImageService, RuntimeService} from '../../cri/index.js';

/** The part of the RuntimeService that runs pods. `kcri plan` has its own implementation. */
export type KubeRuntimeService = Pick<
  RuntimeService,
  | 'version'
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'execSync'
  | 'updateContainerResources'
  | 'updatePodSandboxResources'
  | 'containerStats'
>;

/** The part of the ImageService that pulls images for pods and says where they are. */
export type KubeImageService = Pick<ImageService, 'imageStatus' | 'listImages' | 'pullImage' | 'imageFsInfo'>;

/** Both services of one runtime. */
export interface KubeServices {
  readonly runtime: KubeRuntimeService;
  readonly images: KubeImageService;
}

/** The services of a runtime on a node of a cluster, which also tells the runtime its pod CIDRs. */
export interface ClusterServices extends KubeServices {
  readonly runtime: KubeRuntimeService & Pick<RuntimeService, 'updateRuntimeConfig'>;
}
