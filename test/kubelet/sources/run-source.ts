import {onTestFinished} from 'vitest';
import type {PodDocument} from '../../../src/api/manifest/parse-manifest.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {PodSource, SourceReport, SourceSet} from '../../../src/kubelet/sources/pod-source.js';
import type {ApiObjects} from '../../../src/kubelet/contract/api-objects.js';
import {preparePods} from '../../../src/kubelet/pods/field-support/prepare-pods.js';
import {until} from '../../base/until.js';

/** Prepares a manifest's Pod as the daemon on the node `node1` does. */
export function prepareOnNode(document: PodDocument, objects: ApiObjects, url?: string): Pod {
  const [prepared] = preparePods([document], {
    static: true,
    nodeName: 'node1',
    seenAtMs: 0,
    objects,
    url,
  });
  return prepared!.pod;
}

/** Returns a valid Pod manifest; `spec` is YAML that is appended to the spec. */
export function podManifest(name: string, spec = ''): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - {name: main, image: busybox}\n${spec}`;
}

export function configMapManifest(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {key: ${value}}\n`;
}

/** A running source, and all sets and reports that it has emitted. */
export interface RunningSource {
  readonly sets: readonly SourceSet[];
  readonly reports: readonly SourceReport[];
  /** Names of the pods in the last set. */
  readonly names: () => readonly (string | undefined)[] | undefined;
  readonly uids: () => readonly string[];
  /** All reports as `message: error`. */
  readonly messages: () => readonly string[];
  /** Waits until the pods of the last set have these names. */
  readonly untilNames: (...names: readonly string[]) => Promise<void>;
  readonly untilReported: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Runs a source until the test finishes. */
export function runSource(source: PodSource): RunningSource {
  const controller = new AbortController();
  const sets: SourceSet[] = [];
  const reports: SourceReport[] = [];
  const run = source.run(
    {set: (set) => void sets.push(set), report: (report) => void reports.push(report)},
    controller.signal,
  );
  let failure: Error | undefined;
  run.catch((error: unknown) => (failure = error as Error));
  const stop = async (): Promise<void> => {
    controller.abort();
    await run;
  };
  onTestFinished(stop);
  const names = (): readonly (string | undefined)[] | undefined =>
    sets.at(-1)?.pods.map(({pod}) => pod.metadata.name);
  const untilTrue = async (condition: () => boolean): Promise<void> => {
    await until(() => {
      if (failure !== undefined) throw failure;
      return condition();
    });
  };
  return {
    sets,
    reports,
    names,
    uids: () => sets.at(-1)?.pods.map(({uid}) => uid) ?? [],
    messages: () =>
      reports.map(({message, error}) => (error === undefined ? message : `${message}: ${error}`)),
    untilNames: (...expected) => untilTrue(() => JSON.stringify(names()) === JSON.stringify(expected)),
    untilReported: (count) => untilTrue(() => reports.length >= count),
    stop,
  };
}
