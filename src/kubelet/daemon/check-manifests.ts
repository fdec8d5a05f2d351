import type {Clock} from '../../base/clock.js';
import {isSystemCallError} from '../../base/errors.js';
import {formatPathError} from '../../base/system-error-message.js';
import {ManifestFiles} from '../sources/manifest-files.js';
import {listManifestPaths, readManifestFile, statManifestPath} from '../sources/manifest-path.js';
import type {SourceReport} from '../sources/pod-source.js';
import {createManifestProblems, type ManifestProblem} from './introspection/manifest-problem.js';
import {createPodPreparer} from './open-pod-sources.js';

/** Options of checkManifests. */
export interface CheckManifestsOptions {
  readonly nodeName: string;
  readonly clock: Clock;
  /** True for a node of a cluster, which rejects workloads. */
  readonly inCluster: boolean;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the problems of the manifests at a path, as the daemon would report them after its start. Starts
 * nothing. Rejects with the signal's reason.
 */
export async function checkManifests(
  path: string,
  {nodeName, clock, inCluster, signal}: CheckManifestsOptions,
): Promise<readonly ManifestProblem[]> {
  const reports: SourceReport[] = [];
  const files = new ManifestFiles({
    acceptsWorkloads: !inCluster,
    prepare: createPodPreparer({nodeName, clock, inCluster}),
    report: (report) => {
      reports.push(report);
    },
  });
  const stats = await statManifestPath(path);
  if (stats.kind === 'missing') return [{level: 'warning', place: path, message: 'path does not exist'}];
  if (stats.kind === 'unreadable') return [{level: 'error', place: path, message: stats.error}];
  try {
    const paths = stats.kind === 'directory' ? await listManifestPaths(path) : [path];
    for (const each of paths)
      files.put(each, await readManifestFile(each, signal, undefined), {isSettled: true});
  } catch (error) {
    signal.throwIfAborted();
    if (!isSystemCallError(error)) throw error;
    return [{level: 'error', place: path, message: formatPathError('open', path, error)}];
  }
  files.refresh('list');
  return reports.flatMap(createManifestProblems);
}
