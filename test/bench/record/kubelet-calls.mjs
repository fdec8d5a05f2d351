// Calls that a kubelet repeats while pods run.
import {BUSYBOX} from '../kubelet/node.mjs';

/** Returns the calls by their names. Each gets a connection. */
export function kubeletCalls({podSandboxId, containerId}) {
  return {
    Version: ({runtime}) => runtime.version({}),
    Status: ({runtime}) => runtime.status({}),
    ListContainers: ({runtime}) => runtime.listContainers({}),
    ListPodSandbox: ({runtime}) => runtime.listPodSandbox({}),
    ContainerStatus: ({runtime}) => runtime.containerStatus({containerId}),
    PodSandboxStatus: ({runtime}) => runtime.podSandboxStatus({podSandboxId}),
    ImageStatus: ({images}) => images.imageStatus({image: {image: BUSYBOX}}),
    ListImages: ({images}) => images.listImages({}),
  };
}
