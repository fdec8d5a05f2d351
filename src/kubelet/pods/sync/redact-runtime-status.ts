import {findContainer} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {podSecretValuesOf} from '../../managers/redaction/pod-redactor.js';

/** Returns the status without secret values: a runtime may repeat a command or a variable in its messages. */
export function redactRuntimeStatus(
  {objects, secrets}: Pick<SyncContext, 'objects' | 'secrets'>,
  pod: Pod,
  status: RuntimePodStatus,
): RuntimePodStatus {
  secrets.setReferencedValues(podSecretValuesOf(pod, objects));
  const containers = status.containers.map((container) => ({
    ...container,
    cri: {
      ...container.cri,
      message: secrets.maskContainerMessage(findContainer(pod, container.name), container.cri.message),
    },
  }));
  return {...status, containers};
}
