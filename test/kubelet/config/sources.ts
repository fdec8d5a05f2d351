import {onTestFinished} from 'vitest';
import type {ManifestDocument} from '../../../src/api/manifest.js';
import type {Pod} from '../../../src/api/v1.js';
import type {PodSource, SourceReport, SourceSet} from '../../../src/kubelet/config/pod-source.js';
import type {ApiObjects} from '../../../src/kubelet/container/api-objects.js';
import {preparePods} from '../../../src/kubelet/prepare-pods.js';
import {until} from '../../base/until.js';

/** As the daemon on the node `node1` makes Pods of manifests. */
export function prepareOnNode(document: ManifestDocument, objects: ApiObjects, url?: string): Pod {
  const [prepared] = preparePods([document], {
    static: true,
    nodeName: 'node1',
    seenAtMs: 0,
    objects,
    url,
  });
  return prepared!.pod;
}

/** A manifest; each of these has its faultless place. */
export function podManifest(name: string, spec = ''): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - {name: main, image: busybox}\n${spec}`;
}

export function configMapManifest(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {key: ${value}}\n`;
}

/** A running source, and all that it has said. */
export interface Followed {
  readonly sets: readonly SourceSet[];
  readonly reports: readonly SourceReport[];
  /** The names of the pods of the last set. */
  readonly names: () => readonly (string | undefined)[] | undefined;
  readonly uids: () => readonly string[];
  /** `message: error` of every report. */
  readonly told: () => readonly string[];
  /** Waits until the last set's pods have these names. */
  readonly untilNames: (...names: readonly string[]) => Promise<void>;
  readonly untilTold: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Runs a source until the test has finished. */
export function follow(source: PodSource): Followed {
  const controller = new AbortController();
  const sets: SourceSet[] = [];
  const reports: SourceReport[] = [];
  const run = source.run(
    {set: (set) => void sets.push(set), report: (report) => void reports.push(report)},
    controller.signal,
  );
  let fault: Error | undefined;
  run.catch((error: unknown) => (fault = error as Error));
  const stop = async (): Promise<void> => {
    controller.abort();
    await run;
  };
  onTestFinished(stop);
  const names = (): readonly (string | undefined)[] | undefined =>
    sets.at(-1)?.pods.map(({pod}) => pod.metadata.name);
  const holds = async (condition: () => boolean): Promise<void> => {
    await until(() => {
      if (fault !== undefined) throw fault;
      return condition();
    });
  };
  return {
    sets,
    reports,
    names,
    uids: () => sets.at(-1)?.pods.map(({uid}) => uid) ?? [],
    told: () => reports.map(({message, error}) => (error === undefined ? message : `${message}: ${error}`)),
    untilNames: (...expected) => holds(() => JSON.stringify(names()) === JSON.stringify(expected)),
    untilTold: (count) => holds(() => reports.length >= count),
    stop,
  };
}
