import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

/**
 * Expression of the tag of fluent-bit's kubernetes filter (kube_regex.h, and parser kube-custom of its Helm chart); fluentd's
 * plugin has an equivalent one.
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

/** Returns the logs that fluent-bit's tail input finds in the directory of links: `/var/log/containers/*.log`. */
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

/**
 * Returns the logs that promtail and alloy find of a container: `__path__` is `/var/log/pods/*$1/*.log` with the UID of the pod
 * and the name of the container, in Loki's Helm chart.
 */
export function promtailLogs(podLogsDir: string, uid: string, container: string): readonly string[] {
  return podLogs(podLogsDir).filter((path) => {
    const [pod = '', name] = path.slice(podLogsDir.length + 1).split('/');
    return pod.endsWith(uid) && name === container;
  });
}

/**
 * Returns the logs that vector's kubernetes_logs finds of a pod: `*.log` below the directories of containers, except `*.gz` and
 * `*.tmp`, in the directory that it computes from namespace, name and UID, with what it reads from each path from the right.
 */
export function vectorLogs(
  podLogsDir: string,
  {namespace, name, uid}: {readonly namespace: string; readonly name: string; readonly uid: string},
): readonly Readonly<Record<'namespace' | 'pod' | 'uid' | 'container', string | undefined>>[] {
  const directory = join(podLogsDir, [namespace, name, uid].join('_'));
  return pathsBelow(directory, /\.log$/).map((path) => {
    const [, container, pod = ''] = path.split('/').toReversed();
    const [podUid, podName, podNamespace] = pod.split('_').toReversed();
    return {namespace: podNamespace, pod: podName, uid: podUid, container};
  });
}

/** Returns the paths that match the pattern of a glob, in order. */
function pathsBelow(directory: string, pattern: RegExp): readonly string[] {
  const names = existsSync(directory) ? (readdirSync(directory, {recursive: true}) as readonly string[]) : [];
  return names
    .filter((name) => pattern.test(name))
    .map((name) => join(directory, name))
    .toSorted();
}
