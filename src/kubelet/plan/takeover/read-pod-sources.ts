import type {ApiObject} from '../../../api/types/v1-objects.js';
import type {Clock} from '../../../base/clock.js';
import {liveValue} from '../../contract/live-value.js';
import type {DesiredPod, DesiredWorkload, PodSourceName} from '../../contract/pod-update.js';
import {createApiObjects, type ApiObjects} from '../../contract/api-objects.js';
import {byCreation} from '../../daemon/kubelet-handler.js';
import {createManifestProblems, type ManifestProblem} from '../../daemon/introspection/manifest-problem.js';
import {
  createPodSources,
  placesOf,
  type PodSourcesOptions,
  type PreparedPodFilter,
} from '../../daemon/open-pod-sources.js';
import {CheckTimes} from '../../managers/workloads/check-times.js';
import {JobManager} from '../../managers/workloads/job-manager.js';
import {JobStore} from '../../managers/workloads/job-store.js';
import {PodMux} from '../../sources/pod-mux.js';
import {readSourceOnce} from '../../sources/read-source-once.js';

/** Options of readPodSources. */
export interface ReadPodSourcesOptions extends Pick<
  PodSourcesOptions,
  'manifestPath' | 'manifestUrl' | 'manifestHeaders' | 'nodeName' | 'clock'
> {
  /** Root directory, which has the states of Jobs. */
  readonly rootDir: string;
  /** See KeptStaticPods. */
  readonly keepStaticPod: PreparedPodFilter;
  /** Pods that the API server has for the node; undefined if they could not be read; absent without a cluster. */
  readonly api?: {readonly pods: readonly DesiredPod[] | undefined} | undefined;
}

/** First delivery of the sources of a daemon. */
export interface ReadSources {
  /** Pods in the order in which the daemon adds them. */
  readonly pods: readonly DesiredPod[];
  /** API objects of the manifests. */
  readonly objects: ApiObjects;
  /** Sources that have delivered nothing. Without them, the daemon does not know which pods to remove. */
  readonly missing: readonly PodSourceName[];
  /** Manifests that the daemon ignores, and sources that it cannot read. */
  readonly problems: readonly ManifestProblem[];
}

/** Reads each source of a daemon once, as the daemon does when it starts. Rejects with the signal's reason. */
export async function readPodSources(
  options: ReadPodSourcesOptions,
  signal: AbortSignal,
): Promise<ReadSources> {
  const {api, clock, rootDir} = options;
  const once = liveValue(() => 0);
  const all: PodSourcesOptions = {
    ...options,
    fileCheckFrequencyMs: once,
    httpCheckFrequencyMs: once,
    api: undefined,
    rootDir: api === undefined ? rootDir : undefined,
  };
  const sources = createPodSources(all, options.keepStaticPod);
  const reads = await Promise.all(sources.map(async (source) => await readSourceOnce(source, signal)));
  const names: PodSourceName[] = [
    ...sources.map(({name}) => name),
    ...(api === undefined ? [] : (['api'] as const)),
  ];
  const added: DesiredPod[] = [];
  const mux = createMux(names, clock, (pods) => added.push(...pods));
  for (const {name, set} of reads)
    if (set !== undefined)
      mux.set(name, [...set.pods, ...(await podsOfWorkloads(set.workloads ?? [], options))]);
  if (api?.pods !== undefined) mux.set('api', api.pods.toSorted(byCreation));
  const objects: readonly ApiObject[] = reads.flatMap(({set}) => set?.objects ?? []);
  const delivered = new Set(reads.flatMap(({name, set}) => (set === undefined ? [] : name)));
  if (api?.pods !== undefined) delivered.add('api');
  return {
    pods: added,
    objects: createApiObjects(objects, placesOf(options)),
    missing: names.filter((name) => !delivered.has(name)),
    problems: reads.flatMap(({problems}) => problems.flatMap(createManifestProblems)),
  };
}

function createMux(
  sources: readonly PodSourceName[],
  clock: Clock,
  add: (pods: readonly DesiredPod[]) => void,
): PodMux {
  const deliver: ConstructorParameters<typeof PodMux>[0]['deliver'] = ({op, pods}) => {
    if (op === 'ADD') add(pods);
  };
  return new PodMux({sources, clock, events: () => undefined, deliver});
}

/**
 * Returns the pods that workloads have in the end: those of their current templates, and those of Jobs as far as they have come.
 * Stores nothing.
 */
async function podsOfWorkloads(
  workloads: readonly DesiredWorkload[],
  {rootDir, clock}: Pick<ReadPodSourcesOptions, 'rootDir' | 'clock'>,
): Promise<readonly DesiredPod[]> {
  if (workloads.length === 0) return [];
  const store = new JobStore(rootDir);
  const jobs = new JobManager({
    clock,
    store: {list: async () => await store.list(), put: async () => undefined, delete: async () => undefined},
    states: {status: () => undefined},
    report: () => undefined,
  });
  await jobs.load();
  const ofJobs = await jobs.advance(workloads, {isComplete: false, checks: new CheckTimes()});
  return workloads.flatMap((workload) =>
    workload.kind === 'job' ? (ofJobs.get(workload) ?? []) : workload.pods,
  );
}
