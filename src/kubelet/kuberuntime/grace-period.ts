import type {Container, Pod} from '../../api/v1.js';
import type {ContainerToKill} from '../container/pod-actions.js';

/** What no container gets less than, in seconds (minimumGracePeriodInSeconds). */
export const MINIMUM_GRACE_PERIOD_SECONDS = 2;

/**
 * The seconds that a container has to end when nobody says otherwise: its pod's, or those of the probe that failed
 * (setTerminationGracePeriod).
 */
export function ownGracePeriod(
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
 * The seconds that the containers of a pod have which is being ended: as many as were asked for, else the pod's own;
 * never none, so that there is a second for preStop hooks (calculateEffectiveGracePeriod).
 */
export function terminatingGracePeriod({metadata, spec}: Pod, requested?: number): number {
  const seconds = requested ?? metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  return Math.max(seconds, 1);
}

/** What is left of a grace period after some milliseconds, of which whole seconds count. */
export function remainingGrace(seconds: number, elapsedMs: number): number {
  return seconds - Math.min(seconds, Math.max(0, Math.floor(elapsedMs / 1000)));
}
