/** Version of crictl whose commands, flags and output kcri has. */
const CRICTL_VERSION = 'v1.36.0';

/** Returns the output of `crictl --version`. */
export function crictlVersionLine(): string {
  return `crictl version ${CRICTL_VERSION}`;
}
