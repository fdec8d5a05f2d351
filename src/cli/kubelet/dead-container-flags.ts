import type {ContainerGcPolicy} from '../../kubelet/index.js';
import {durationFlag, integerFlag} from '../flags.js';

/** Flags of a kubelet that say which dead containers stay; they have no field in its configuration. */
export const DEAD_CONTAINER_FLAGS = {
  'maximum-dead-containers-per-container': integerFlag({
    helpGroup: 'KUBELET',
    helpValue: 'N',
    description: 'How many dead instances of a container are kept; negative: all. [default: 1]',
  }),
  'maximum-dead-containers': integerFlag({
    helpGroup: 'KUBELET',
    helpValue: 'N',
    description: 'How many dead containers are kept altogether; negative: any number. [default: -1]',
  }),
  'minimum-container-ttl-duration': durationFlag({
    helpGroup: 'KUBELET',
    helpValue: 'DURATION',
    description: 'How old a dead container must be to be removed, since it was made. [default: 0s]',
  }),
};

/** What the values of these flags say, with the kubelet's defaults. */
export function containerGcOf(flags: Readonly<Record<string, unknown>>): ContainerGcPolicy {
  const valueOf = (name: keyof typeof DEAD_CONTAINER_FLAGS, byDefault: number): number => {
    const value = flags[name];
    return typeof value === 'number' ? value : byDefault;
  };
  return {
    maxPerContainer: valueOf('maximum-dead-containers-per-container', 1),
    maxContainers: valueOf('maximum-dead-containers', -1),
    minAgeMs: valueOf('minimum-container-ttl-duration', 0),
  };
}
