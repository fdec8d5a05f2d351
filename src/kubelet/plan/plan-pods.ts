import {isRestartableInit} from '../../api/resource-list.js';
import type {Pod} from '../../api/v1.js';
import type {CriCall} from '../container/cri-calls.js';
import type {PlannedFile} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';
import {failuresOf} from '../container/sync-result.js';
import {LocalPods, SILENT_OBSERVER, type LocalPodsOptions} from '../local-pods.js';
import {podErrorOf} from '../pod-error.js';
import type {PodSyncer} from '../pod-syncer.js';
import {PlannedFilesystem} from './planned-filesystem.js';
import {withoutSecrets} from '../references/without-secrets.js';
import {plannedHooks} from './planned-hooks.js';
import {PlannedPullRecords} from './planned-pull-records.js';
import {plannedServices} from './planned-services.js';

/** One call that a sync would make. */
export type PlannedCall = Pick<CriCall, 'method' | 'requestType' | 'request'>;

/** What would be done for one pod, in order. */
export interface PodPlan {
  readonly pod: Pod;
  /** The UID of the older pod of the same name that would be ended first. */
  readonly replaces: string | undefined;
  readonly calls: readonly PlannedCall[];
  /** Files of volumes that are new or changed, without their content. */
  readonly files: readonly PlannedFile[];
}

/** More passes than there are containers to wait for means that the pod never settles. */
const MAX_PASSES_BEYOND_INIT = 4;

/**
 * The calls that a sync of each pod would make now, found by running the sync itself on services and a file
 * system that change nothing. Init containers are taken to succeed. Rejects with PodError for what would fail.
 */
export async function planPods(
  options: Omit<LocalPodsOptions, 'observer' | 'files'>,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly PodPlan[]> {
  const plans: PodPlan[] = [];
  for (const pod of pods) plans.push(await planPod(options, pod, signal));
  return plans;
}

async function planPod(
  options: Omit<LocalPodsOptions, 'observer' | 'files'>,
  pod: Pod,
  signal: AbortSignal,
): Promise<PodPlan> {
  const calls: PlannedCall[] = [];
  const files = new Map<string, PlannedFile>();
  const onFile = (file: PlannedFile): void => void files.set(file.path, file);
  const exitsAtOnce = (name: string): boolean =>
    pod.spec.initContainers?.some((each) => each.name === name && !isRestartableInit(each)) ?? false;
  const planned = new LocalPods({
    ...options,
    envObjects: withoutSecrets(options.objects),
    services: plannedServices(options.services, {exitsAtOnce}),
    // A plan runs no programs.
    imageCredentials: options.imageCredentials?.withoutProviders(),
    pullRecords: new PlannedPullRecords(options.node.rootDir),
    hooks: plannedHooks,
    files: (node) => new PlannedFilesystem(node, {clock: options.clock, onFile}),
    observer: {
      ...SILENT_OBSERVER,
      call: (_ref, call, ended) => {
        if (ended === undefined) calls.push(call);
      },
    },
  });
  const {known, older} = await planned.standing(pod);
  if (older !== undefined) {
    const syncer = planned.syncer(older.pod, older.place);
    await syncer.terminate();
    await syncer.removeFromRuntime();
  }
  await runPasses(planned.syncer(pod, known?.place), signal);
  return {pod, replaces: older?.uid, calls, files: [...files.values()]};
}

async function runPasses(syncer: PodSyncer, signal: AbortSignal): Promise<void> {
  const limit = (syncer.pod.spec.initContainers?.length ?? 0) + MAX_PASSES_BEYOND_INIT;
  for (let pass = 0; pass < limit; pass++) {
    const {results} = await syncer.sync(signal);
    const [failure] = failuresOf(results);
    if (failure !== undefined) throw podErrorOf(podRef(syncer.pod), failure);
    if (results.length === 0) return;
  }
}
