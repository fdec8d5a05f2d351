import type {TopologyHint} from '../../../../src/kubelet/contract/node-manager.js';
import {listMembers} from '../../../../src/kubelet/resources/bit-set.js';

/** A hint as in the oracles. */
export interface OracleHint {
  readonly numa: readonly number[] | null;
  readonly preferred: boolean;
}

/** Returns a hint as in the oracles. */
export function shownHint({numaNodes, preferred}: TopologyHint): OracleHint {
  return {numa: numaNodes === undefined ? null : listMembers(numaNodes), preferred};
}
