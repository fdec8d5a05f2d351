/** Which images a pod must show credentials for before it may use what is on the node already. */
export type VerificationPolicy =
  | {readonly kind: 'NeverVerify'}
  /** The kubelet's default: only images that it has pulled itself. */
  | {readonly kind: 'NeverVerifyPreloadedImages'}
  /** All but these: `registry/repository`, or `registry/path/*` for all below. */
  | {readonly kind: 'NeverVerifyAllowlistedImages'; readonly images: readonly string[]}
  | {readonly kind: 'AlwaysVerify'};

/** True when the policy wants credentials for an image, named as the Pod names it (pullmanager/image_pull_policies.go). */
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
