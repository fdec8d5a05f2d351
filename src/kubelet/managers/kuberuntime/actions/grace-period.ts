import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ContainerToKill} from '../../../contract/pod-actions.js';

/** Minimum time between SIGTERM and SIGKILL, in seconds (minimumGracePeriodInSeconds). */
export const MINIMUM_GRACE_PERIOD_SECONDS = 2;

/**
 * Returns the grace period of a container in seconds: that of the pod's deletion, of the probe that failed, or of the
 * pod (setTerminationGracePeriod).
 */
export function containerGracePeriodSeconds(
  {metadata, spec}: Pod,
  container: Container | undefined,
  reason?: ContainerToKill['reason'],
): number {
  if (metadata.deletionGracePeriodSeconds !== undefined) return metadata.deletionGracePeriodSeconds;
  if (spec.terminationGracePeriodSeconds === undefined) return MINIMUM_GRACE_PERIOD_SECONDS;
  const probe =
    reason === 'LivenessProbe'
      ? container?.livenessProbe
      : reason === 'StartupProbe'
        ? container?.startupProbe
        : undefined;
  return probe?.terminationGracePeriodSeconds ?? spec.terminationGracePeriodSeconds;
}

/**
 * Returns the grace period for terminating a whole pod in seconds: `requested`, or the pod's own. It is at least 1, so
 * that preStop hooks can run (calculateEffectiveGracePeriod).
 */
export function effectiveGracePeriodSeconds({metadata, spec}: Pod, requested?: number): number {
  const seconds = requested ?? metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  return Math.max(seconds, 1);
}

/** Returns the rest of a grace period in seconds; of the elapsed time only whole seconds count. */
export function remainingGracePeriodSeconds(seconds: number, elapsedMs: number): number {
  return seconds - Math.min(seconds, Math.max(0, Math.floor(elapsedMs / 1000)));
}
