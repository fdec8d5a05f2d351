import type {ApiObject} from '../api/v1-objects.js';
import type {Clock} from '../base/clock.js';
import {shownUrl} from '../format/shown-url.js';
import type {ManifestHeaders} from './config/fetch-manifest.js';
import {FileSource} from './config/file-source.js';
import {HttpSource} from './config/http-source.js';
import type {PreparePod} from './config/manifest-reading.js';
import {PodMux} from './config/pod-mux.js';
import type {PodSource, SourceReport, SourceSet} from './config/pod-source.js';
import {apiObjects, NO_OBJECTS, type ApiObjects} from './container/api-objects.js';
import type {EventSink} from './container/events.js';
import type {PodSourceName, PodUpdate} from './container/pod-update.js';
import {preparePods} from './prepare-pods.js';

/** Where a kubelet finds its own pods. */
export interface PodSourcesOptions {
  /** A directory or file of manifests (staticPodPath). */
  readonly manifestPath?: string | undefined;
  /** staticPodURL. */
  readonly manifestUrl?: string | undefined;
  /** staticPodURLHeader. */
  readonly manifestHeaders?: ManifestHeaders | undefined;
  /** This and the next one may change at any time. */
  readonly fileCheckFrequencyMs: number;
  readonly httpCheckFrequencyMs: number;
  readonly nodeName: string;
  readonly clock: Clock;
}

/** Takes what the sources tell; none may throw. */
export interface PodSourcesSink {
  /** What has become of pods, in order. */
  readonly update: (update: PodUpdate) => void;
  /** What pods refer to has changed: those that run must be synced. */
  readonly objectsChanged: (objects: readonly ApiObject[]) => void;
  readonly report: (report: SourceReport) => void;
  readonly event: EventSink;
}

/** All sources of a kubelet's pods. */
export interface PodSources {
  /** What came with the manifests, always as it is now. */
  readonly objects: ApiObjects;
  /** Follows the sources until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Has every source looked at again at once. */
  reread(): void;
  /** See PodMux.seenAllSources. */
  seenAllSources(handled: ReadonlySet<PodSourceName>): boolean;
}

/** Makes the sources that are wanted; nothing is read before they run. */
export function openPodSources(options: PodSourcesOptions, sink: PodSourcesSink): PodSources {
  const sources = sourcesOf(options);
  const {clock} = options;
  const mux = new PodMux({
    sources: sources.map(({name}) => name),
    clock,
    events: sink.event,
    deliver: sink.update,
  });
  const bySource = new Map<PodSourceName, readonly ApiObject[]>();
  let current = NO_OBJECTS;
  const setObjects = (source: PodSourceName, objects: readonly ApiObject[]): void => {
    const known = bySource.get(source) ?? [];
    if (known.length === objects.length && known.every((object, index) => object === objects[index])) return;
    bySource.set(source, objects);
    const all = [...bySource.values()].flat();
    current = apiObjects(all, placesOf(options));
    sink.objectsChanged(all);
  };
  return {
    objects: {
      sources: placesOf(options),
      configMap: (namespace, name) => current.configMap(namespace, name),
      secret: (namespace, name) => current.secret(namespace, name),
      serviceAccount: (namespace, name) => current.serviceAccount(namespace, name),
      runtimeClass: (name) => current.runtimeClass(name),
    },
    run: async (signal) => {
      const runs = sources.map(async (source) => {
        const set = ({pods, objects}: SourceSet): void => {
          // Pods that come must find what they refer to.
          setObjects(source.name, objects);
          mux.set(source.name, pods);
        };
        await source.run({set, report: sink.report}, signal);
      });
      await Promise.all(runs);
    },
    reread: () => {
      for (const source of sources) source.reread();
    },
    seenAllSources: (handled) => mux.seenAllSources(handled),
  };
}

/** For messages: a URL without its password. */
function placesOf({manifestPath, manifestUrl}: PodSourcesOptions): readonly string[] {
  const url = manifestUrl === undefined ? undefined : shownUrl(new URL(manifestUrl));
  return [manifestPath, url].filter((place) => place !== undefined);
}

function sourcesOf(options: PodSourcesOptions): readonly PodSource[] {
  const {manifestPath, manifestUrl, clock} = options;
  const sources: PodSource[] = [];
  if (manifestPath !== undefined) {
    sources.push(
      new FileSource({
        path: manifestPath,
        get checkFrequencyMs() {
          return options.fileCheckFrequencyMs;
        },
        clock,
        prepare: preparer(options),
      }),
    );
  }
  if (manifestUrl !== undefined) {
    sources.push(
      new HttpSource({
        url: manifestUrl,
        headers: options.manifestHeaders ?? {},
        get checkFrequencyMs() {
          return options.httpCheckFrequencyMs;
        },
        clock,
        prepare: preparer(options, manifestUrl),
      }),
    );
  }
  return sources;
}

function preparer({nodeName, clock}: PodSourcesOptions, url?: string): PreparePod {
  return (document, objects) => {
    const seenAtMs = clock.now();
    const options = {static: true, nodeName, seenAtMs, objects, url} as const;
    const [prepared] = preparePods([document], options);
    if (prepared === undefined) throw new Error('a document has become no pod');
    return prepared.pod;
  };
}
