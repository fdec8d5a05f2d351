import type {Pod} from './types/v1-pod.js';

/** Annotation that kcri adds to the pods of other programs: `kubelet`, or `none` for those of crictl and its like. */
export const MANAGER_ANNOTATION = 'kcri/manager';

/** Annotation that kcri adds to a pod whose spec is restored from the runtime, so that parts of it are unknown. */
export const PARTIAL_ANNOTATION = 'kcri/partial';

/** Reports whether the spec of the pod is restored from the runtime. */
export function isPartial({metadata}: Pick<Pod, 'metadata'>): boolean {
  return metadata.annotations?.[PARTIAL_ANNOTATION] !== undefined;
}

/** Annotation of a container of `kcri debug`: the name of the container whose processes it sees. */
export const DEBUG_TARGET_ANNOTATION = 'kcri/debug-target';

/** Annotation of a sandbox of `kcri run` with an image, which has no purpose when its container has exited. */
export const RUN_ANNOTATION = 'kcri/run';
