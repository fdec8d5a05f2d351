import type {LiveValue} from '../contract/live-value.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {ApiObject} from '../../api/types/v1-objects.js';
import type {Clock} from '../../base/clock.js';
import {redactUrl} from '../../format/redact-url.js';
import type {ManifestHeaders} from '../sources/fetch-manifest.js';
import {FileSource} from '../sources/file-source.js';
import {HttpSource} from '../sources/http-source.js';
import type {PreparePod} from '../sources/prepare-manifest.js';
import {PodMux} from '../sources/pod-mux.js';
import {
  createSourceReport,
  type PodSource,
  type SourceReport,
  type SourceSet,
} from '../sources/pod-source.js';
import {readSourceOnce} from '../sources/read-source-once.js';
import type {PodUid} from '../../cri/index.js';
import {JobStore} from '../managers/workloads/job-store.js';
import {WorkloadManager, type WorkloadManagerOptions} from '../managers/workloads/workload-manager.js';
import {createApiObjects, currentObjects, NO_OBJECTS, type ApiObjects} from '../contract/api-objects.js';
import type {EventSink} from '../contract/pod-event.js';
import type {PodStates, PodSourceName, PodUpdate} from '../contract/pod-update.js';
import {hasManifestUid} from '../sources/static-pod.js';
import {preparePods} from '../pods/field-support/prepare-pods.js';

/** Options of the pod sources of a kubelet. */
export interface PodSourcesOptions {
  /** Directory or file of manifests (staticPodPath). */
  readonly manifestPath?: string | undefined;
  /** URL of manifests (staticPodURL). */
  readonly manifestUrl?: string | undefined;
  /** Headers of the requests to the URL (staticPodURLHeader). */
  readonly manifestHeaders?: ManifestHeaders | undefined;
  /** Source of the pods of an API server; none by default. */
  readonly api?: PodSource | undefined;
  /** Periods of the checks of the sources, in ms. */
  readonly fileCheckFrequencyMs: LiveValue<number>;
  readonly httpCheckFrequencyMs: LiveValue<number>;
  readonly nodeName: string;
  readonly clock: Clock;
  /**
   * Root directory for the states of Jobs; undefined for a kubelet of a cluster, which rejects workloads in manifests.
   */
  readonly rootDir?: string | undefined;
}

/** Function that may change a static pod before it is delivered. */
export type PreparedPodFilter = (pod: Pod, objects: ApiObjects) => Pod;

/** Receiver of the output of the pod sources. None of its functions may throw. */
export interface PodSourcesSink {
  /** Receives the changes of pods, in order. */
  readonly update: (update: PodUpdate) => void;
  /** Called when API objects that pods refer to have changed and running pods must be synced. */
  readonly objectsChanged: (objects: readonly ApiObject[]) => void;
  readonly report: (report: SourceReport) => void;
  readonly event: EventSink;
  /** The pods of the kubelet, on which the desired pods of workloads depend. */
  readonly podStates: PodStates;
  /** Returns the static pod of a manifest as it runs, with its objects; see KeptStaticPods. */
  readonly keepStaticPod: PreparedPodFilter;
}

/** All pod sources of a kubelet. */
export interface PodSources {
  /** API objects delivered with the manifests, always up to date. */
  readonly objects: ApiObjects;
  /** Watches the sources until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the current problems of all sources, such as invalid manifests. */
  problems(): readonly SourceReport[];
  /** Decides about workloads again, since the status of a pod has changed. */
  podChanged(): void;
  /** Triggers an immediate read of every source. */
  reread(): void;
  /**
   * Reads the directory of manifests once and resolves with the UIDs that its pods have by their manifests. Rejects with the
   * signal's reason.
   */
  manifestUids(signal: AbortSignal): Promise<ReadonlySet<PodUid>>;
  /** Reports whether all sources have delivered their pods; see PodMux.seenAllSources. */
  seenAllSources(handled: ReadonlySet<PodSourceName>): boolean;
}

/** Creates the configured sources; nothing is read before `run`. */
export function openPodSources(options: PodSourcesOptions, sink: PodSourcesSink): PodSources {
  const sources = createPodSources(options, sink.keepStaticPod);
  const {clock} = options;
  const mux = new PodMux({
    sources: sources.map(({name}) => name),
    clock,
    events: sink.event,
    deliver: sink.update,
  });
  const workloads = createWorkloadManager(options, sink, {
    sources: sources.map(({name}) => name),
    deliver: (source, pods) => {
      mux.set(source, pods);
    },
  });
  const bySource = new Map<PodSourceName, readonly ApiObject[]>();
  const problems = new Map<PodSourceName, readonly SourceReport[]>();
  let current = NO_OBJECTS;
  const setObjects = (source: PodSourceName, objects: readonly ApiObject[]): void => {
    const known = bySource.get(source) ?? [];
    if (known.length === objects.length && known.every((object, index) => object === objects[index])) return;
    bySource.set(source, objects);
    const all = [...bySource.values()].flat();
    current = createApiObjects(all, placesOf(options));
    sink.objectsChanged(all);
  };
  return {
    objects: {
      sources: placesOf(options),
      ...currentObjects(() => current),
    },
    run: async (signal) => {
      const runs = sources.map(async (source) => {
        const set = ({pods, objects, workloads: found = [], isIncomplete = false}: SourceSet): void => {
          // New pods must find the objects they refer to.
          setObjects(source.name, objects);
          if (workloads === undefined) mux.set(source.name, pods);
          else workloads.set(source.name, {pods, workloads: found, isIncomplete});
        };
        const setProblems = (reports: readonly SourceReport[]): void => {
          problems.set(source.name, reports);
        };
        await source.run({set, report: sink.report, problems: setProblems}, signal);
      });
      await Promise.all([...runs, workloads?.run(signal)]);
    },
    podChanged: () => workloads?.podChanged(),
    problems: () => [...problems.values()].flat(),
    reread: () => {
      for (const source of sources) source.reread();
    },
    manifestUids: async (signal) => await readManifestUids(options, signal),
    seenAllSources: (handled) => mux.seenAllSources(handled),
  };
}

async function readManifestUids(
  {manifestPath, ...options}: PodSourcesOptions,
  signal: AbortSignal,
): Promise<ReadonlySet<PodUid>> {
  const places = {manifestPath, manifestUrl: undefined, api: undefined};
  const sources = createPodSources({...options, ...places}, (pod) => pod);
  const reads = await Promise.all(sources.map(async (source) => await readSourceOnce(source, signal)));
  return new Set(reads.flatMap(({set}) => set?.pods ?? []).map(({uid}) => uid));
}

/** Creates the manager of the workloads in manifests; undefined for a kubelet of a cluster. */
function createWorkloadManager(
  {rootDir, clock}: PodSourcesOptions,
  {podStates: states, report}: PodSourcesSink,
  parts: Pick<WorkloadManagerOptions, 'sources' | 'deliver'>,
): WorkloadManager | undefined {
  if (rootDir === undefined) return undefined;
  return new WorkloadManager({
    ...{...parts, clock, states},
    jobs: new JobStore(rootDir),
    report: ({message, ...rest}) => {
      report(createSourceReport('file', message, rest));
    },
  });
}

/** Returns the places of the sources for messages; a URL without its password. */
export function placesOf({
  manifestPath,
  manifestUrl,
}: Pick<PodSourcesOptions, 'manifestPath' | 'manifestUrl'>): readonly string[] {
  const url = manifestUrl === undefined ? undefined : redactUrl(new URL(manifestUrl));
  return [manifestPath, url].filter((place) => place !== undefined);
}

/** Creates the configured sources. Nothing is read yet. `keep` changes static pods whose UID is computed. */
export function createPodSources(options: PodSourcesOptions, keep: PreparedPodFilter): readonly PodSource[] {
  const {manifestPath, manifestUrl, api, nodeName, clock, rootDir} = options;
  const inCluster = rootDir === undefined;
  const acceptsWorkloads = !inCluster;
  const sources: PodSource[] = [];
  if (manifestPath !== undefined) {
    sources.push(
      new FileSource({
        path: manifestPath,
        checkFrequencyMs: options.fileCheckFrequencyMs,
        clock,
        acceptsWorkloads,
        prepare: createPodPreparer({nodeName, clock, inCluster, keep}),
      }),
    );
  }
  if (manifestUrl !== undefined) {
    sources.push(
      new HttpSource({
        url: manifestUrl,
        headers: options.manifestHeaders ?? {},
        checkFrequencyMs: options.httpCheckFrequencyMs,
        clock,
        acceptsWorkloads,
        prepare: createPodPreparer({nodeName, clock, inCluster, keep}, manifestUrl),
      }),
    );
  }
  if (api !== undefined) sources.push(api);
  return sources;
}

/** Options of createPodPreparer. */
export interface PodPreparerOptions extends Pick<PodSourcesOptions, 'nodeName' | 'clock'> {
  readonly inCluster: boolean;
  /** Changes the pods whose UID is computed; by default they are not changed. */
  readonly keep?: PreparedPodFilter;
}

/** Returns the function that gives the Pods of manifests their identity on a node. */
export function createPodPreparer(
  {nodeName, clock, inCluster, keep = (pod) => pod}: PodPreparerOptions,
  url?: string,
): PreparePod {
  return (document, objects) => {
    const seenAtMs = clock.now();
    const options = {static: true, inCluster, nodeName, seenAtMs, objects, url} as const;
    const [prepared] = preparePods([document], options);
    if (prepared === undefined) throw new Error('a document was not prepared');
    return hasManifestUid(document.pod) ? prepared.pod : keep(prepared.pod, objects);
  };
}
