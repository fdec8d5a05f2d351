/** Texts with which kubelet 1.36 deprecates flags, by the reason (its options.go, globalflags.go and globalflags_linux.go). */
export const DEPRECATIONS = {
  configuration:
    "This parameter should be set via the config file specified by the Kubelet's --config flag. See " +
    'https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.',
  cAdvisor:
    'This is a cadvisor flag that was mistakenly registered with the Kubelet. Due to legacy concerns, it will follow the ' +
    'standard CLI deprecation timeline before being removed.',
  eviction: 'Use --eviction-hard or --eviction-soft instead. Will be removed in a future version.',
  csi: 'will be removed in 1.25 or later. in favor of using CSI.',
  unused: 'will be removed in 1.25 or later.',
} as const;

/** Reason for which a flag is deprecated. */
export type Deprecation = keyof typeof DEPRECATIONS;
