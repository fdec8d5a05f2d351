/** Feature gates that kcri supports, and their defaults: those of Kubernetes 1.36, except EventedPLEG (kube_features.go). */
export const FEATURE_GATES = {
  CPUManagerPolicyAlphaOptions: false,
  CPUManagerPolicyBetaOptions: true,
  ComponentFlagz: true,
  ComponentStatusz: true,
  CustomCPUCFSQuotaPeriod: true,
  DisableCPUQuotaWithExclusiveCPUs: true,
  EventedPLEG: true,
  GracefulNodeShutdown: true,
  GracefulNodeShutdownBasedOnPodPriority: true,
  MemoryQoS: false,
  NodeSwap: true,
  PodLevelResourceManagers: false,
  PodLogsQuerySplitStreams: false,
  QOSReserved: false,
} as const satisfies Readonly<Record<string, boolean>>;

/** Reports whether a configuration enables a feature gate. */
export function isGateEnabled(
  {featureGates}: {readonly featureGates: Readonly<Record<string, boolean>>},
  gate: keyof typeof FEATURE_GATES,
): boolean {
  return featureGates[gate] ?? FEATURE_GATES[gate];
}
