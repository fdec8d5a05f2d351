import {KcriError} from '../../base/errors.js';

/**
 * A container can't be configured as its Pod asks: the kubelet's CreateContainerConfigError, in the kubelet's words.
 */
export class ContainerConfigError extends KcriError {
  readonly code = 'CREATE_CONTAINER_CONFIG';
}

/** A pod's sandbox can't be configured as its Pod asks, in the kubelet's words. */
export class PodSandboxConfigError extends KcriError {
  readonly code = 'POD_SANDBOX_CONFIG';
}
