/** Version of the Kubernetes API and behavior that kcri implements; the control plane checks the version skew by it. */
export const KUBERNETES_VERSION = 'v1.36.2';

/** Returns the version of the kubelet that a node reports, of a version of kcri. */
export function kubeletVersion(kcriVersion: string): string {
  return `${KUBERNETES_VERSION}+kcri.${kcriVersion}`;
}
