import {KcriError} from '../../../../base/errors.js';

/** Invalid container configuration, with the kubelet's message; reported as CreateContainerConfigError. */
export class ContainerConfigError extends KcriError {
  readonly code = 'CREATE_CONTAINER_CONFIG';
}

/** Invalid sandbox configuration, with the kubelet's message. */
export class PodSandboxConfigError extends KcriError {
  readonly code = 'POD_SANDBOX_CONFIG';
}
