import type {Workload} from '../../api/types/v1-workloads.js';
import {parseWorkload, parseWorkloadKind} from '../../api/workloads/workload-of-pod.js';
import {UsageError} from '../../base/errors.js';
import {formatAgeSince} from '../../format/age.js';
import {GrowingTable} from '../../format/growing-table.js';
import type {Column} from '../../format/table.js';
import {NotFoundError} from '../../operations/resolve/target.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {workloadsOf, workloadWithoutPodsError} from '../pods/workload-pods.js';
import {computeWorkloads, workloadTitle, type WorkloadSummary} from './compute-workloads.js';

/** Words of `get workloads`, parsed. */
export interface WorkloadWords {
  /** Kind that the words name first, if they do: `deployments web`. */
  readonly kind: Workload['kind'] | undefined;
  /** Words in the form `deployment/web`; empty for all of the kind. */
  readonly names: readonly string[];
}

/** Parses `deployments`, `deployments web api` or `deployment/web job/main`. Throws UsageError. */
export function parseWorkloadWords(words: readonly string[]): WorkloadWords {
  const [first = '', ...rest] = words;
  const kind = parseWorkloadKind(first);
  const isKindFirst = kind !== undefined && !first.includes('/');
  const names = isKindFirst ? rest.map((name) => `${kind.toLowerCase()}/${name}`) : words;
  const invalid = names.find((name) => parseWorkload(name) === undefined);
  if (invalid !== undefined)
    throw new UsageError(`"${invalid}" is not a workload`, {
      hint: 'use KIND/NAME, such as deployment/web, or a kind, such as jobs',
    });
  return {kind: isKindFirst ? kind : undefined, names};
}

/** Returns the workloads of pods that the words name, and reports words without any. */
export function selectWorkloads(
  {report}: ReportContext,
  shown: readonly ShownPod[],
  {kind, names}: WorkloadWords,
): readonly WorkloadSummary[] {
  const all = computeWorkloads(shown.map(({listed, pod}) => ({pod, owners: workloadsOf(listed)})));
  if (names.length === 0) return all.filter((each) => kind === undefined || each.kind === kind);
  const found = names.flatMap((word) => {
    const named = parseWorkload(word);
    const matches = all.filter((each) => each.kind === named?.kind && each.name === named.name);
    if (matches.length === 0) report.fail(workloadWithoutPodsError(word) ?? new NotFoundError(word));
    return matches;
  });
  return [...new Set(found)];
}

/** Options of a table of workloads. */
export interface WorkloadTableOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly header: boolean;
  /** True to show names without their kind, because all are of the same. */
  readonly isOneKind: boolean;
  readonly nowMs: number;
}

/** Formats workloads as a table: how many of their pods are ready, and how many have ended. */
export function formatWorkloads(
  workloads: readonly WorkloadSummary[],
  {wide, namespace, header, isOneKind, nowMs}: WorkloadTableOptions,
): string {
  const columns: readonly Column<WorkloadSummary>[] = [
    ...(namespace ? [{header: 'NAMESPACE', value: (row: WorkloadSummary) => row.namespace}] : []),
    {header: 'NAME', value: (row) => (isOneKind ? row.name : workloadTitle(row))},
    {header: 'READY', value: ({ready, active}) => `${ready}/${active}`},
    {header: 'SUCCEEDED', value: ({succeeded}) => String(succeeded)},
    {header: 'FAILED', value: ({failed}) => String(failed)},
    {header: 'AGE', value: ({createdAt}) => formatAgeSince(createdAt, nowMs)},
    ...(wide ? [{header: 'IMAGES', value: ({images}: WorkloadSummary) => images.join(',')}] : []),
  ];
  return new GrowingTable(columns, {header}).text(workloads);
}
