import {sep} from 'node:path';
import {belongsTo, workloadRef, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import {ConfigError, EmptyValueError, UsageError} from '../../base/errors.js';
import type {PodRecord} from '../../kubelet/index.js';
import {absoluteSource} from '../../operations/manifests/absolute-source.js';
import type {LoadedPods} from '../manifests/load-pods.js';
import type {CurrentWorkloads, ReplacedPod} from '../manifests/select-replaced-pods.js';
import {parseLabelSelector} from '../pods/label-selector.js';
import {formatPodTitle} from '../pods/pod-title.js';

/** Values of the flags of a prune. */
export interface PruneFlagValues {
  readonly prune: boolean;
  readonly selector?: string | undefined;
}

/** Pods of earlier syncs that a prune may delete: those that match, in the namespaces of the manifests. */
export interface PruneScope {
  /** Reason of a deletion, such as `no longer in the manifests`. */
  readonly reason: string;
  readonly includes: (record: PodRecord) => boolean;
  /** Label selector that all pods of the manifests match, too. */
  readonly selector: string | undefined;
}

/**
 * Returns the scope of `--prune`: pods with the labels of `--selector` or, without it, pods of earlier syncs of the same
 * files, directories and URLs. Undefined without `--prune`. Throws UsageError.
 */
export function parsePruneScope(
  sources: readonly string[],
  {prune, selector}: PruneFlagValues,
): PruneScope | undefined {
  if (selector !== undefined && !prune) throw new UsageError('--selector requires --prune');
  if (!prune) return undefined;
  if (selector?.trim() === '') throw new EmptyValueError('--selector');
  if (selector !== undefined) {
    const matches = parseLabelSelector(selector);
    return {
      reason: 'not in the manifests',
      includes: ({pod}) => matches(pod.metadata.labels ?? {}),
      selector,
    };
  }
  if (sources.includes('-'))
    throw new UsageError('--prune of standard input requires --selector', {
      hint: 'earlier syncs of standard input may have been of other manifests; select its pods by their labels',
    });
  const absolute = sources.map(absoluteSource);
  return {
    reason: 'no longer in the manifests',
    includes: ({source}) => absolute.some((each) => source === each || source.startsWith(each + sep)),
    selector: undefined,
  };
}

/** Throws ConfigError if a pod of the manifests does not match the selector of the scope: a later prune would keep it. */
export function requireInScope({pods}: Pick<LoadedPods, 'pods'>, scope: PruneScope | undefined): void {
  if (scope?.selector === undefined) return;
  const matches = parseLabelSelector(scope.selector);
  const other = pods.find(({pod}) => !matches(pod.metadata.labels ?? {}));
  if (other === undefined) return;
  const {namespace = 'default', name = ''} = other.pod.metadata;
  throw new ConfigError(`pod "${formatPodTitle({namespace, name})}" does not match --selector`, {
    hint: 'with --prune, all pods of the manifests must match; change the selector or the labels',
  });
}

/**
 * Returns the pods that a prune deletes: pods of earlier syncs in the scope that the manifests do not contain, neither
 * as Pods nor as pods of workloads. Pods of a kubelet, and of namespaces without an object in the manifests, stay, as in
 * kubectl.
 */
export function selectPrunedPods(
  records: readonly PodRecord[],
  {pods, documents}: Pick<CurrentWorkloads, 'pods'> & Pick<LoadedPods, 'documents'>,
  scope: PruneScope | undefined,
): readonly ReplacedPod[] {
  if (scope === undefined) return [];
  const refs: readonly WorkloadRef[] = documents.workloads.map(({workload}) => workloadRef(workload));
  const wanted = new Set(
    pods.map(({pod: {metadata}}) => `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`),
  );
  const namespaces = new Set([
    ...pods.map(({pod}) => pod.metadata.namespace ?? 'default'),
    ...refs.map(({namespace}) => namespace),
  ]);
  return records
    .filter(
      (record) =>
        record.manager === undefined &&
        namespaces.has(record.namespace) &&
        !wanted.has(formatPodTitle(record)) &&
        !refs.some((ref) => belongsTo(record.pod, ref)) &&
        scope.includes(record),
    )
    .map((record) => ({record, reason: scope.reason}));
}
