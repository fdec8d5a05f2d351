import {parseWorkload} from '../../api/workloads/workload-of-pod.js';
import {NotFoundError} from '../../operations/resolve/target.js';
import type {RuntimeContext, SettingsContext} from '../../cli/command/contexts.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';
import {workloadsOf, workloadWithoutPodsError} from '../pods/workload-pods.js';
import {computeWorkloads, workloadTitle, type WorkloadSummary} from '../workloads/compute-workloads.js';
import {checkWorkloadCondition, judgeWorkload, type SeenWorkload} from './judge-workload.js';
import type {WantedCondition} from './judge-readiness.js';
import {repeatRounds, WaitFailedError, WaitTimeoutError, timedOutText} from './wait-rounds.js';

/** Options of waitForWorkloads. */
export interface WaitForWorkloadsOptions {
  readonly condition: WantedCondition;
  readonly flags: Pick<PodSelectionFlagValues, 'namespace'>;
  /** Time limit in ms; 0 to check once, undefined for none. */
  readonly timeoutMs: number | undefined;
  /** Called when a workload meets the condition. */
  readonly onMet: (workload: WorkloadSummary) => void;
}

/** Reports whether all words name workloads, such as `deployment/web`. */
export function areWorkloads(words: readonly string[]): boolean {
  return words.length > 0 && words.every((word) => parseWorkload(word) !== undefined);
}

/**
 * Waits until the workloads that the words name have a condition, as their pods on this node show. Reports those that do not
 * in time, or never will, and continues with the others. Rejects with UsageError and the signal's reason.
 */
export async function waitForWorkloads(
  services: RuntimeContext,
  words: readonly string[],
  {condition, flags, timeoutMs, onMet}: WaitForWorkloadsOptions,
): Promise<void> {
  for (const word of words) {
    const {kind} = parseWorkload(word) ?? {};
    if (kind !== undefined) checkWorkloadCondition(kind, condition);
  }
  const {report} = services;
  const reader = new PodReader(services);
  const what = `condition ${condition.type}=${condition.value}`;
  const pending = new Map<string, {readonly workload: WorkloadSummary; readonly state: string}>();
  let isFirst = true;
  const round = async (): Promise<boolean> => {
    const shown = await reader.observe(await reader.select([], {namespace: flags.namespace}));
    reader.requireRuntime();
    const all = computeWorkloads(shown.map(({listed, pod}) => ({pod, owners: workloadsOf(listed)})));
    const byKey = new Map(all.map((each) => [keyOf(each), each]));
    if (isFirst)
      for (const workload of findNamed(all, words, report.fail))
        pending.set(keyOf(workload), {workload, state: ''});
    isFirst = false;
    for (const [key, {workload}] of pending) {
      const current = byKey.get(key);
      const judgement = judgeWorkload(current && (await seeWorkload(services, current, shown)), condition);
      if (judgement.kind === 'pending') {
        pending.set(key, {workload, state: judgement.state});
        continue;
      }
      pending.delete(key);
      if (judgement.kind === 'met') onMet(workload);
      else
        report.fail(
          new WaitFailedError(`${workloadTitle(workload)} cannot reach ${what}: ${judgement.reason}`),
        );
    }
    return pending.size === 0;
  };
  await repeatRounds(services, timeoutMs, async () => Promise.resolve(round));
  for (const {workload, state} of pending.values())
    report.fail(
      new WaitTimeoutError(`${timedOutText(timeoutMs)} ${what} of ${workloadTitle(workload)}: ${state}`),
    );
}

function keyOf({kind, namespace, name}: WorkloadSummary): string {
  return `${namespace} ${kind} ${name}`;
}

function findNamed(
  all: readonly WorkloadSummary[],
  words: readonly string[],
  onMissing: (error: NotFoundError) => void,
): readonly WorkloadSummary[] {
  return words.flatMap((word) => {
    const named = parseWorkload(word);
    const found = all.filter(({kind, name}) => kind === named?.kind && name === named.name);
    if (found.length === 0) onMissing(workloadWithoutPodsError(word) ?? new NotFoundError(word));
    return found;
  });
}

/** Reads what the pods of a workload do not show: whether a process still runs a Job, and its recorded result. */
async function seeWorkload(
  {settings: {rootDir}}: SettingsContext,
  workload: WorkloadSummary,
  shown: readonly ShownPod[],
): Promise<SeenWorkload> {
  const own = shown.filter(({listed}) => workloadsOf(listed).some((ref) => isSame(ref, workload)));
  const seen = {...workload, pods: own.map(({pod}) => pod), isRun: false};
  if (workload.kind !== 'Job') return seen;
  const {isPodRun, JobStore} = await import('../../kubelet/index.js');
  const records = own.flatMap(({listed}) => listed.record ?? []);
  const {states} = await new JobStore(rootDir).list();
  const state = states.find(
    ({namespace, name}) => namespace === workload.namespace && name === workload.name,
  );
  // Only its API server knows when the Job of another kubelet has ended.
  if (records.length === 0) return {...seen, isRun: true};
  if (records.some(({manager}) => manager === 'kubelet'))
    return {...seen, isRun: state?.result === undefined, result: state?.result?.kind};
  const runs = await Promise.all(records.map(async (record) => isPodRun(rootDir, record)));
  return {...seen, isRun: runs.includes(true)};
}

function isSame(a: Pick<WorkloadSummary, 'kind' | 'namespace' | 'name'>, b: WorkloadSummary): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}
