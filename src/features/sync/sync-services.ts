import {idleServiceNotice} from '../../api/services/service-notices.js';
import {selectsPod} from '../../api/services/service-endpoints.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {messageOf} from '../../base/errors.js';
import {HostsUpdater, type PodRecord, type PodRegistry} from '../../kubelet/index.js';
import type {LoadedPods, LoadedServices} from '../manifests/load-pods.js';

/** Options of startServices. */
export interface StartServicesOptions {
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Returns a warning for each Service that selects none of the pods, with its position. */
export function describeIdleServices({documents}: LoadedServices, pods: readonly Pod[]): readonly string[] {
  return documents.flatMap(({object, ...location}) => {
    const notice = idleServiceNotice(object, pods);
    if (notice === undefined) return [];
    const {file, line, column, message} = location.createIssue(notice);
    return [`${file}:${line}:${column}: ${message}`];
  });
}

/**
 * Adds the pods of earlier syncs to the Services of a sync, warns about Services without pods, and keeps the hosts files
 * of the pods up to date until the result is disposed.
 */
export async function startServices(
  registry: PodRegistry,
  {pods, services}: Pick<LoadedPods, 'pods'> & {readonly services: LoadedServices},
  {warn, signal}: StartServicesOptions,
): Promise<AsyncDisposable> {
  const {documents, local} = services;
  const own = new Set(pods.map(({pod}) => pod.metadata.uid));
  const {records} = await registry.store.list();
  const older = records.filter(
    ({uid, pod, endpoint}) =>
      !own.has(uid) &&
      endpoint === registry.endpoint &&
      documents.some(({object}) => selectsPod(object, pod)),
  );
  const all = [...pods, ...older].map(({pod}) => pod);
  for (const warning of describeIdleServices(services, all)) warn(warning);
  for (const record of older) await addOlderPod(registry, record, services, signal);
  const failed = new Set<string>();
  return new HostsUpdater({
    ...{registry, services: local},
    onError: ({uid, namespace, name}, error) => {
      if (!failed.has(uid))
        warn(`cannot update the hosts file of pod "${namespace}/${name}": ${messageOf(error)}`);
      failed.add(uid);
    },
  });
}

async function addOlderPod(
  registry: PodRegistry,
  {pod, place}: PodRecord,
  {local}: LoadedServices,
  signal: AbortSignal,
): Promise<void> {
  try {
    const {status} = await registry.createSyncer(pod, place).observe(signal);
    local.addOlder(pod, status);
  } catch {
    // The sync itself reports a runtime that does not respond.
    signal.throwIfAborted();
  }
}
