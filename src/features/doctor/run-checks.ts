import {findClosestMatch} from '../../base/closest-match.js';
import {EmptyValueError, UsageError} from '../../base/errors.js';
import {AREAS, type Check, type CheckResult, type Result} from './check.js';
import {ADDRESS_CHECKS} from './checks/addresses.js';
import {CGROUP_CHECKS} from './checks/cgroups.js';
import {DISK_CHECKS} from './checks/disk.js';
import {KERNEL_CONFIG_CHECKS} from './checks/kernel-config.js';
import {KERNEL_CHECKS} from './checks/kernel.js';
import {KUBELET_NODE_CHECKS} from './checks/kubelet-node.js';
import {KUBELET_CHECKS} from './checks/kubelet.js';
import {LEFTOVER_CHECKS} from './checks/leftovers.js';
import {MEMORY_CHECKS} from './checks/memory.js';
import {NETWORK_CHECKS} from './checks/network.js';
import {RUNTIME_CHECKS} from './checks/runtime.js';
import {SECURITY_CHECKS} from './checks/security.js';
import {TIME_CHECKS} from './checks/time.js';
import type {NodeSnapshot} from './node-snapshot.js';

/** All checks, in the order of the output. */
export const CHECKS: readonly Check[] = [
  ...RUNTIME_CHECKS,
  ...KUBELET_CHECKS,
  ...KUBELET_NODE_CHECKS,
  ...NETWORK_CHECKS,
  ...ADDRESS_CHECKS,
  ...CGROUP_CHECKS,
  ...KERNEL_CHECKS,
  ...KERNEL_CONFIG_CHECKS,
  ...DISK_CHECKS,
  ...MEMORY_CHECKS,
  ...TIME_CHECKS,
  ...LEFTOVER_CHECKS,
  ...SECURITY_CHECKS,
];

const areaOf = ({id}: Check): string => id.slice(0, id.indexOf('/'));

/** Returns the checks of areas and with IDs, in the order of the output; all for no words. Throws UsageError. */
export function selectChecks(words: readonly string[]): readonly Check[] {
  const known: readonly string[] = [...AREAS, ...CHECKS.map(({id}) => id)];
  for (const word of words) {
    if (word === '') throw new EmptyValueError('--only');
    if (known.includes(word)) continue;
    const guess = findClosestMatch(word, known);
    throw new UsageError(`unknown check "${word}"`, {
      hint: `${guess === undefined ? '' : `did you mean "${guess}"? `}must be the ID of a check or one of ${AREAS.join(', ')}`,
    });
  }
  return CHECKS.filter(
    (check) => words.length === 0 || words.includes(check.id) || words.includes(areaOf(check)),
  );
}

/** Examines a node. Pure. */
export function runChecks(checks: readonly Check[], snapshot: NodeSnapshot): readonly CheckResult[] {
  return checks.map((check) => ({
    id: check.id,
    area: areaOf(check),
    title: check.title,
    ...check.examine(snapshot),
  }));
}

/** Returns the worst result: `failure`, `warning`, or `ok`, also if nothing could be examined. */
export function worstOf(results: readonly CheckResult[]): Exclude<Result, 'skipped'> {
  const has = (wanted: Result): boolean => results.some(({result}) => result === wanted);
  return has('failure') ? 'failure' : has('warning') ? 'warning' : 'ok';
}
