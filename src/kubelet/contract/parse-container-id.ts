import {containerId, type ContainerId} from '../../cri/index.js';

/** Returns the ID in a container status without the runtime: `abc` for `containerd://abc` (kubecontainer.ParseContainerID). */
export function parseContainerId(text: string): ContainerId {
  return containerId(text.replace(/^.*:\/\//, ''));
}
