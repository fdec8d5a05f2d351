import {SystemError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import {byKey} from '../../../base/compare.js';
import type {TopologyManagerSettings} from '../../contract/resources/topology-settings.js';
import {countMembers} from '../../resources/bit-set.js';
import {parsePolicyBoolean, parsePolicyInteger} from '../../resources/policy-options.js';
import {
  mergeBestEffort,
  mergeRestricted,
  mergeSingleNumaNode,
  type MergeHints,
  type NumaInfo,
} from './merge-hints.js';
import {numaInfo, type NumaDistances} from './numa-info.js';

/** What the topology manager does with hints. */
export interface TopologyPolicy {
  readonly merge: MergeHints;
  /** True if hints are merged for the whole pod, not for each container. */
  readonly isForPods: boolean;
  /** True if what the policy admits is always on one NUMA node (IsAlignmentGuaranteed). */
  readonly isAligned: boolean;
}

const POLICIES: Readonly<Record<string, (node: NumaInfo) => MergeHints>> = {
  'best-effort': mergeBestEffort,
  restricted: mergeRestricted,
  'single-numa-node': mergeSingleNumaNode,
};

/** Number of NUMA nodes from which on there are too many combinations, unless an option allows more. */
const MAX_NUMA_NODES = 8;

/**
 * Returns the policy; undefined for `none`, which asks for no hints and ignores everything else. Throws SystemError with the
 * kubelet's text if the settings are wrong or do not fit the machine (topologymanager.NewManager).
 */
export function createTopologyPolicy(
  {policy, scope, options}: TopologyManagerSettings,
  nodes: readonly NumaDistances[],
): TopologyPolicy | undefined {
  if (policy === 'none') return undefined;
  const {prefersClosest, maxNodes} = parseOptions(options);
  const info = numaInfo(nodes, prefersClosest);
  if (countMembers(info.all) > maxNodes)
    throw new SystemError(`unsupported on machines with more than ${maxNodes} NUMA Nodes`, {
      hint: 'set the option max-allowable-numa-nodes in topologyManagerPolicyOptions, or topologyManagerPolicy none',
    });
  const createMerge = ownValue(POLICIES, policy);
  if (createMerge === undefined)
    throw new SystemError(`unknown policy: "${policy}"`, {
      hint: `set topologyManagerPolicy to none, ${Object.keys(POLICIES).join(' or ')}`,
    });
  if (scope !== 'container' && scope !== 'pod')
    throw new SystemError(`unknown scope: "${scope}"`, {
      hint: 'set topologyManagerScope to container or pod',
    });
  return {merge: createMerge(info), isForPods: scope === 'pod', isAligned: policy === 'single-numa-node'};
}

interface Options {
  readonly prefersClosest: boolean;
  readonly maxNodes: number;
}

const PARSERS: Readonly<Record<string, (name: string, value: string) => Partial<Options>>> = {
  'prefer-closest-numa-nodes': (name, value) => ({prefersClosest: parsePolicyBoolean(name, value)}),
  'max-allowable-numa-nodes': (name, value) => {
    const maxNodes = parsePolicyInteger(name, value);
    if (maxNodes < MAX_NUMA_NODES)
      throw new SystemError(`the minimum value of "${name}" should not be less than ${MAX_NUMA_NODES}`, {
        hint: `set ${name} to ${MAX_NUMA_NODES} or more`,
      });
    return {maxNodes};
  },
};

/** Parses the options, sorted by name: a kubelet reports any one of several wrong ones. */
function parseOptions(options: Readonly<Record<string, string>>): Options {
  return Object.entries(options)
    .toSorted(byKey)
    .reduce<Options>(
      (parsed, [name, value]) => {
        const parse = ownValue(PARSERS, name);
        if (parse === undefined)
          throw new SystemError(`unknown Topology Manager Policy option: ${goQuote(name)}`, {
            hint: `use one of ${Object.keys(PARSERS).join(', ')} in topologyManagerPolicyOptions`,
          });
        return {...parsed, ...parse(name, value)};
      },
      {prefersClosest: false, maxNodes: MAX_NUMA_NODES},
    );
}

/** Returns the value of a table; undefined also for names of members that every object has. */
function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
