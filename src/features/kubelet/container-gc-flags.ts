import type {ContainerGcPolicy} from '../../kubelet/index.js';
import {durationFlag, integerFlag} from '../../cli/flags/flag-types.js';

/** Flags for container GC that have no field in the KubeletConfiguration. */
export const CONTAINER_GC_FLAGS = {
  'maximum-dead-containers-per-container': integerFlag({
    helpGroup: 'KUBELET',
    helpValue: 'N',
    description:
      'Maximum number of dead instances to keep per container; a negative number means no limit. ' +
      '[default: 1]',
  }),
  'maximum-dead-containers': integerFlag({
    helpGroup: 'KUBELET',
    helpValue: 'N',
    description: 'Maximum number of dead containers to keep; a negative number means no limit. [default: -1]',
  }),
  'minimum-container-ttl-duration': durationFlag({
    helpGroup: 'KUBELET',
    helpValue: 'DURATION',
    description: 'Minimum age of a dead container before it is removed. [default: 0s]',
  }),
};

/** Returns the GC policy from the flags, with the defaults of the kubelet. */
export function containerGcPolicy(flags: Readonly<Record<string, unknown>>): ContainerGcPolicy {
  const valueOf = (name: keyof typeof CONTAINER_GC_FLAGS, byDefault: number): number => {
    const value = flags[name];
    return typeof value === 'number' ? value : byDefault;
  };
  return {
    maxPerContainer: valueOf('maximum-dead-containers-per-container', 1),
    maxContainers: valueOf('maximum-dead-containers', -1),
    minAgeMs: valueOf('minimum-container-ttl-duration', 0),
  };
}
