import {parseDuration} from '../../../format/duration.js';
import type {ConfigValues} from './fields-and-defaults/kubelet-config-defaults.js';

/**
 * Returns the kubelet's messages for fields that are invalid in combination (validation.go
 * ValidateKubeletConfiguration).
 */
export function findFieldConflicts(values: ConfigValues): readonly string[] {
  const found: (string | false)[] = [
    imageGc(values),
    values.serializeImagePulls === true &&
      (values.maxParallelImagePulls ?? 1) > 1 &&
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    values.systemCgroups !== '' &&
      values.cgroupRoot === '' &&
      'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified',
    values.preloadedImagesVerificationAllowlist.length > 0 &&
      values.imagePullCredentialsVerificationPolicy !== 'NeverVerifyAllowlistedImages' &&
      'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    values.enableSystemLogQuery &&
      !values.enableSystemLogHandler &&
      'enableSystemLogHandler is required for enableSystemLogQuery',
    shutdown(values),
    (values.tlsCertFile === '') !== (values.tlsPrivateKeyFile === '') &&
      'tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file) must be specified together',
  ];
  return found.filter((text) => text !== false);
}

function imageGc({
  imageGCLowThresholdPercent: low,
  imageGCHighThresholdPercent: high,
}: ConfigValues): string | false {
  return (
    low >= high &&
    `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`
  );
}

function shutdown({
  shutdownGracePeriod: all,
  shutdownGracePeriodCriticalPods: critical,
}: ConfigValues): string | false {
  return (
    (parseDuration(critical) ?? 0n) > (parseDuration(all) ?? 0n) &&
    `shutdownGracePeriodCriticalPods ${critical} must be <= shutdownGracePeriod ${all}`
  );
}
