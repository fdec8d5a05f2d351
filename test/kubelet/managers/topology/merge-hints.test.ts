import {expect, test} from 'vitest';
import type {TopologyHint, TopologyHints} from '../../../../src/kubelet/contract/node-manager.js';
import {createTopologyPolicy} from '../../../../src/kubelet/managers/topology/topology-policy.js';
import {bitSet} from '../../../../src/kubelet/resources/bit-set.js';
import {readOracle} from '../../read-oracle.js';
import {shownHint, type OracleHint} from './oracle-hints.js';

interface MergeCase {
  readonly id: string;
  readonly policy: string;
  readonly preferClosestNUMA: boolean;
  readonly numaNodes: readonly number[];
  readonly distances?: readonly (readonly number[])[];
  readonly providersHints: readonly (Readonly<Record<string, readonly OracleHint[] | null>> | null)[];
  readonly best: OracleHint;
  readonly admit: boolean;
}

const CASES = readOracle(new URL('merge.jsonl.gz', import.meta.url)) as readonly MergeCase[];

function toHints(hints: MergeCase['providersHints'][number]): TopologyHints {
  return new Map(
    Object.entries(hints ?? {}).map(([resource, list]) => [
      resource,
      list?.map(({numa, preferred}): TopologyHint => ({
        numaNodes: numa === null ? undefined : bitSet(numa),
        preferred,
      })),
    ]),
  );
}

test.each(CASES)('$id: $policy merges hints as the kubelet does', (each) => {
  const options = {'prefer-closest-numa-nodes': String(each.preferClosestNUMA)};
  const nodes = each.numaNodes.map((id, index) => ({id, distances: each.distances?.[index] ?? []}));
  const policy = createTopologyPolicy({policy: each.policy, scope: 'container', options}, nodes);
  const merged = policy?.merge(each.providersHints.map(toHints)) ?? {
    affinity: {numaNodes: undefined, preferred: false},
    isAdmitted: true,
  };
  expect({best: shownHint(merged.affinity), admit: merged.isAdmitted}).toEqual({
    best: each.best,
    admit: each.admit,
  });
});

test('all cases of the oracle were read', () => {
  expect(CASES).toHaveLength(340);
});
