import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/**
 * Expression of the tag of fluent-bit's kubernetes filter, as its Helm chart has it; promtail, vector and fluentd's plugin
 * use equivalent ones.
 */
const KUBE_TAG =
  /(?<pod_name>[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)_(?<namespace_name>[^_]+)_(?<container_name>.+)-(?<docker_id>[a-z0-9]{64})\.log$/;

/** What a log collector knows of a log from its path. */
export interface CollectedLog {
  readonly path: string;
  readonly pod: string | undefined;
  readonly namespace: string | undefined;
  readonly container: string | undefined;
  readonly id: string | undefined;
}

/** Returns the logs that fluent-bit's tail input and promtail find in the directory of links: `/var/log/containers/*.log`. */
export function collectedLogs(containerLogsDir: string): readonly CollectedLog[] {
  return pathsBelow(containerLogsDir, /^[^./][^/]*\.log$/).map((path) => {
    const groups = KUBE_TAG.exec(path)?.groups;
    return {
      path,
      pod: groups?.['pod_name'],
      namespace: groups?.['namespace_name'],
      container: groups?.['container_name'],
      id: groups?.['docker_id'],
    };
  });
}

/** Returns the logs that collectors of the pod log directory find: `/var/log/pods/POD/CONTAINER/N.log`. */
export function podLogs(podLogsDir: string): readonly string[] {
  return pathsBelow(podLogsDir, /^[^./][^/]*\/[^./][^/]*\/[^./][^/]*\.log$/);
}

/** Returns the paths that match the pattern of a glob, in order. */
function pathsBelow(directory: string, pattern: RegExp): readonly string[] {
  const names = existsSync(directory) ? (readdirSync(directory, {recursive: true}) as readonly string[]) : [];
  return names
    .filter((name) => pattern.test(name))
    .map((name) => join(directory, name))
    .toSorted();
}
