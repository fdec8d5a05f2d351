/** Settings of the CPU manager (cpuManager* of the KubeletConfiguration). */
export interface CpuManagerSettings {
  /** `none` or `static`. */
  readonly policy: string;
  readonly options: Readonly<Record<string, string>>;
  readonly reconcilePeriodMs: number;
  /** CPUs that are reserved, in the kernel's list form; empty if only their number is configured. */
  readonly reservedSystemCpus: string;
  /** Feature gate CPUManagerPolicyAlphaOptions, off by default. */
  readonly allowsAlphaOptions: boolean;
  /** Feature gate CPUManagerPolicyBetaOptions, on by default. */
  readonly allowsBetaOptions: boolean;
  /** Feature gate PodLevelResourceManagers, off by default: pods with resources of their own get exclusive CPUs. */
  readonly managesPodLevel: boolean;
  /** Feature gate DisableCPUQuotaWithExclusiveCPUs, on by default. */
  readonly dropsQuota: boolean;
}
