import {join} from 'node:path';
import {RUN_ANNOTATION} from '../../api/manager-annotation.js';
import {ConfigError, KcriError} from '../../base/errors.js';
import {podUid, type PodUid} from '../../cri/ids.js';
import type {PodSandbox, PodSandboxId, RuntimeService} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {stopContainer} from '../../operations/containers/stop-container.js';
import {removeSandbox} from '../../operations/pods/remove-sandbox.js';
import type {
  ConnectionContext,
  ReportContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {STOP_SECONDS} from './end-run.js';
import {removeRunLog, runLogDirectory, runLogName} from './run-logs.js';

/** Pod of `kcri run`, of which kcri has no record. */
export interface RunPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly id: PodSandboxId;
}

/** Returns the pods of `kcri run` on the configured runtime: none, with a warning, if it is unavailable. */
export async function listRunPods({
  connections,
  report,
  signal,
}: ConnectionContext & ReportContext & SignalContext): Promise<readonly RunPod[]> {
  try {
    const {runtime} = await connections.default();
    return (await listAllSandboxes(runtime, {}, signal)).flatMap(runPodOf);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KcriError)) throw error;
    // Without any runtime there are none.
    if (!(error instanceof ConfigError))
      report.warn(`pods of "kcri run" are not considered: ${error.message}`);
    return [];
  }
}

function runPodOf({id, metadata, labels, annotations}: PodSandbox): RunPod | [] {
  if (annotations[RUN_ANNOTATION] === undefined || metadata === undefined) return [];
  const {uid, namespace, name} = metadata;
  return {uid: podUid(uid), namespace, name, labels, id};
}

/** Stops and removes a pod of `kcri run` with its log. Rejects with KcriError. */
export async function deleteRunPod(
  {settings: {rootDir}, signal}: SettingsContext & SignalContext,
  runtime: RuntimeService,
  {
    pod,
    gracePeriodSeconds = Number(STOP_SECONDS),
  }: {readonly pod: RunPod; readonly gracePeriodSeconds?: number | undefined},
): Promise<void> {
  const shown = `${pod.namespace}/${pod.name}`;
  for (const {id, state} of await listAllContainers(runtime, {podSandboxId: pod.id}, signal))
    if (state === 'CONTAINER_RUNNING') await stopContainer(runtime, id, {shown, gracePeriodSeconds, signal});
  await removeSandbox(runtime, pod.id, {shown, force: true, signal});
  await removeRunLog(join(runLogDirectory(rootDir), runLogName(pod)));
}
