import {applyPodDefaults} from '../../src/api/defaults/pod-defaults.js';
import type {ObjectMeta} from '../../src/api/types/v1-meta.js';
import type {Container, Pod, PodSpec} from '../../src/api/types/v1-pod.js';
import type {ContainerStatus} from '../../src/api/types/v1-status.js';
import {omitContainerField, omitPodField} from '../evidence/omit-field.js';

/** UID of the pods that aPod returns. */
export const UID = '11111111-2222-3333-4444-555555555555';

/** Returns a container, by default `main` of busybox. */
export function aContainer(fields: Partial<Container> = {}): Container {
  return omitContainerField({name: 'main', image: 'busybox:1', ...fields});
}

/** Returns a Pod as a manifest has it, by default `web` with a container `main`: without UID, namespace and defaults. */
export function aRawPod(spec: Partial<PodSpec> = {}, metadata: ObjectMeta = {}): Pod {
  return omitPodField({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web', ...metadata},
    spec: {containers: [aContainer()], ...spec},
  });
}

/** Returns a pod as the kubelet manages it: with UID, namespace and the API's defaults. */
export function aPod(spec: Partial<PodSpec> = {}, metadata: ObjectMeta = {}): Pod {
  return applyPodDefaults(aRawPod(spec, {namespace: 'default', uid: UID, ...metadata}));
}

/** Returns the status of a container in a Pod, by default of aContainer's: not ready, in no state. */
export function aContainerStatus(fields: Partial<ContainerStatus> = {}): ContainerStatus {
  return {name: 'main', image: 'busybox:1', imageID: '', ready: false, restartCount: 0, ...fields};
}
