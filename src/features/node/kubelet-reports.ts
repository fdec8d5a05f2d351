import {ConfigError, SystemError} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {KubeletReport, ReportRequest} from '../../kubelet/index.js';
import type {
  EnvironmentContext,
  ReportContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';

/**
 * Returns the report of the root directory's running kubelet about pods, all of them without UIDs. Returns undefined if none
 * runs, or, with a warning, if it does not answer.
 */
export async function fetchKubeletReport(
  services: EnvironmentContext & ReportContext & SettingsContext & SignalContext,
  uids: readonly PodUid[] | undefined,
): Promise<KubeletReport | undefined> {
  return await requestKubeletReport(services, {uids});
}

/** Like fetchKubeletReport, with a report that has what is requested. */
export async function requestKubeletReport(
  services: EnvironmentContext & ReportContext & SettingsContext & SignalContext,
  request: ReportRequest,
): Promise<KubeletReport | undefined> {
  try {
    return await queryRunningKubelet(services, request);
  } catch (error) {
    services.signal.throwIfAborted();
    if (!(error instanceof SystemError)) throw error;
    services.report.warn(`${error.message}; live kubelet details are unavailable`);
    return undefined;
  }
}

/** Returns the kubelet's report about all its pods. Rejects with ConfigError if none runs, and with SystemError. */
export async function requireKubeletReport(
  services: EnvironmentContext & SettingsContext & SignalContext,
): Promise<KubeletReport> {
  const report = await queryRunningKubelet(services, {});
  if (report !== undefined) return report;
  throw new ConfigError(`no kcri kubelet runs with root directory "${services.settings.rootDir}"`, {
    hint: 'start one with "kcri kubelet", or select another directory with --root-dir, such as /var/lib/kubelet of one in a cluster',
  });
}

async function queryRunningKubelet(
  {context: {clock}, settings: {rootDir}, signal}: EnvironmentContext & SettingsContext & SignalContext,
  request: ReportRequest,
): Promise<KubeletReport | undefined> {
  const {queryKubelet, findKubelet} = await import('../../kubelet/index.js');
  const kubelet = await findKubelet(rootDir);
  if (kubelet === undefined) return undefined;
  try {
    return await queryKubelet(rootDir, request, {clock, signal});
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const {hint, message} = error;
    throw new SystemError(`kcri kubelet (PID ${kubelet.pid}) does not respond: ${message}`, {
      cause: error,
      hint,
    });
  }
}
