/**
 * Policy that determines for which images on the node a pod needs credentials (imagePullCredentialsVerificationPolicy).
 */
export type VerificationPolicy =
  | {readonly kind: 'NeverVerify'}
  /** Requires credentials for images that the kubelet has pulled. The default. */
  | {readonly kind: 'NeverVerifyPreloadedImages'}
  /**
   * Requires credentials for all images except these: `registry/repository`, or `registry/path/*` for all below a path.
   */
  | {readonly kind: 'NeverVerifyAllowlistedImages'; readonly images: readonly string[]}
  | {readonly kind: 'AlwaysVerify'};

/**
 * Reports whether a policy requires credentials for an image, named as in the pod spec
 * (pullmanager/image_pull_policies.go).
 */
export function mustVerify(policy: VerificationPolicy, image: string, pulledByKubelet: boolean): boolean {
  switch (policy.kind) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return pulledByKubelet;
    case 'NeverVerifyAllowlistedImages':
      return !policy.images.some((pattern) =>
        pattern.endsWith('/*') ? image.startsWith(pattern.slice(0, -1)) : image === pattern,
      );
    case 'AlwaysVerify':
      return true;
  }
}
