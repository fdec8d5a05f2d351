import type {StoredObject} from './object-storage.js';

export type PodLike = StoredObject & {
  readonly spec?: {readonly nodeName?: string; readonly terminationGracePeriodSeconds?: number};
  readonly status?: {readonly phase?: string};
};

/**
 * Returns a pod with the deletion timestamp and grace period of a DELETE. It is deleted at once if it has ended or its grace
 * period is zero, and it has no finalizers.
 */
export function startDeletion(
  pod: StoredObject,
  {gracePeriodSeconds, now}: {readonly gracePeriodSeconds: number | undefined; readonly now: string},
): {readonly pod: StoredObject; readonly isDeleted: boolean} {
  const {metadata} = pod;
  const grace = effectiveGracePeriod(pod, gracePeriodSeconds);
  return {
    pod: {
      ...pod,
      metadata: {
        ...metadata,
        generation: (metadata.generation ?? 0) + (metadata.deletionTimestamp === undefined ? 1 : 0),
        // A shorter grace period moves the end of a deletion in progress.
        deletionTimestamp: after(now, grace),
        deletionGracePeriodSeconds: grace,
      },
    },
    isDeleted: grace === 0 && (metadata.finalizers ?? []).length === 0,
  };
}

const after = (time: string, seconds: number): string =>
  new Date(Date.parse(time) + seconds * 1000).toISOString().replace('.000Z', 'Z');

/** Returns the grace period of a DELETE, in seconds: 0 for a pod that has ended, and that of the pod by default. */
function effectiveGracePeriod({spec, status}: PodLike, requested: number | undefined): number {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return hasEnded ? 0 : (requested ?? spec?.terminationGracePeriodSeconds ?? 30);
}
