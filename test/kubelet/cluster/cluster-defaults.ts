/** Options of a joined cluster as a KubeletConfiguration has them by default, without certificates. */
export const CLUSTER_DEFAULTS = {
  settings: {
    maxPods: 110,
    port: 10_250,
    providerId: '',
    externalCloudProvider: false,
    registerWithTaints: [],
    controllerAttaches: true,
    maxImages: 50,
  },
  certificates: {managers: [], issued: Promise.resolve()},
  registerNode: true,
  kcriVersion: '0.0.0',
  updateFrequencyMs: 10_000,
  reportFrequencyMs: 300_000,
  leaseDurationSeconds: 40,
  syncFrequencyMs: 60_000,
} as const;
