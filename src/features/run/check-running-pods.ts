import {ConfigError, SystemError} from '../../base/errors.js';
import type {Connection, PodSandbox} from '../../cri/index.js';
import {listAllSandboxes} from '../../cri/list-all.js';
import {RUN_NAMESPACE} from '../../operations/run/image-run-configs.js';
import {withContext} from '../../operations/with-context.js';
import type {ReportContext, SettingsContext, SignalContext} from '../../cli/command/contexts.js';

/** Label by which a kubelet identifies the pod of a sandbox. */
const POD_UID_LABEL = 'io.kubernetes.pod.uid';

/**
 * Returns the sandboxes of the runtime. Rejects with ConfigError if a pod of this name exists, and prints a note if a kubelet manages pods of the runtime: it stops
 * all that it does not know, whatever their labels (kubelet_pods.go HandlePodCleanups).
 */
export async function checkRunningPods(
  services: ReportContext & SettingsContext & SignalContext,
  {runtime}: Pick<Connection, 'runtime'>,
  name: string | undefined,
): Promise<readonly PodSandbox[]> {
  const listing = listAllSandboxes(runtime, {}, services.signal);
  const sandboxes = await withContext('listing pods', listing);
  const taken = sandboxes.some(
    ({metadata}) => metadata?.namespace === RUN_NAMESPACE && metadata.name === name,
  );
  if (taken && name !== undefined)
    throw new ConfigError(`pod "${RUN_NAMESPACE}/${name}" already exists`, {
      hint: `remove it with "kcri delete ${name}", or use another --name`,
    });
  if (await hasKubelet(services, sandboxes))
    services.report.info(
      'kcri: note: a kubelet manages pods of this runtime; it stops pods that it does not know, usually within seconds',
    );
  return sandboxes;
}

/** Reports whether a kubelet other than kcri has running pods. */
async function hasKubelet({settings}: SettingsContext, sandboxes: readonly PodSandbox[]): Promise<boolean> {
  const uids = sandboxes.flatMap(({state, labels}) =>
    state === 'SANDBOX_READY' ? (labels[POD_UID_LABEL] ?? []) : [],
  );
  if (uids.length === 0) return false;
  const {PodStore} = await import('../../kubelet/index.js');
  try {
    const own = new Set<string>((await new PodStore(settings.rootDir).list()).records.map(({uid}) => uid));
    return uids.some((uid) => !own.has(uid));
  } catch (error) {
    if (error instanceof SystemError) return true;
    throw error;
  }
}
