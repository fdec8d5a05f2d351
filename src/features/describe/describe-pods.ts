import type {Pod} from '../../api/types/v1-pod.js';
import {groupBy} from '../../base/by-name.js';
import type {PodRecord} from '../../kubelet/index.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  ReportContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {logFilesOf} from '../logs/log-files-of.js';
import {kubeletSection} from '../node/describe-kubelet.js';
import {describePod} from './describe-pod.js';
import {readMountSections} from './mount-history.js';
import {fetchKubeletReport} from '../node/kubelet-reports.js';
import type {ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';

/** Returns the texts that describe pods, with their events and the last log lines of failed containers. */
export async function describePods(
  services: RuntimeContext,
  reader: PodReader,
  observed: readonly ShownPod[],
): Promise<readonly string[]> {
  const {clock} = services.context;
  const records = observed.flatMap(({listed: {record}}) => record ?? []);
  const sections = await readKubeletSections(services, records);
  const recorded = await reader.recordedEvents(observed.map(({listed}) => listed));
  const mounts = await readMountSections(services, reader, observed, recorded);
  const byPod = groupBy(recorded, ({record}) => record.uid);
  return await Promise.all(
    observed.map(async ({pod, listed}) => {
      const events = (byPod.get(listed.uid) ?? []).map(({event}) => event);
      const logs = await lastLogLines(services, pod, listed.record?.endpoint);
      return `${describePod(pod, {events, logs}, clock.now())}${mounts.get(listed.uid) ?? ''}${sections.get(listed.uid) ?? ''}`;
    }),
  );
}

/** Returns the last log lines of the pod's failed containers; none if its runtime is unavailable. */
async function lastLogLines(
  services: ConnectionContext & SignalContext,
  pod: Pod,
  endpoint: string | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const {connections, signal} = services;
  const {readLastLogLines} = await import('./last-log-lines.js');
  const connect = async () =>
    await (endpoint === undefined ? connections.default() : connections.open(endpoint));
  return await readLastLogLines(connect, pod, {files: await logFilesOf(services), signal});
}

/** Returns the running kubelet's reports about each of its pods. */
async function readKubeletSections(
  services: EnvironmentContext & ReportContext & SettingsContext & SignalContext,
  records: readonly PodRecord[],
): Promise<ReadonlyMap<string, string>> {
  const uids = records.filter(({manager}) => manager === 'kubelet').map(({uid}) => uid);
  const report = uids.length === 0 ? undefined : await fetchKubeletReport(services, uids);
  return new Map(report?.pods.map((pod) => [pod.uid, kubeletSection(report, pod)]));
}
