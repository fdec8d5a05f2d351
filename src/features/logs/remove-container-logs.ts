import {
  removeLogFiles,
  removeRemoteLogFiles,
  type RemovedContainer,
} from '../../operations/logs/remove-log-files.js';
import type {ConnectionContext, ReportContext} from '../../cli/command/contexts.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly rm: RemoveLogsStrategy;
  }
}

/** Removes the log files of a removed container. */
type RemoveLogsStrategy = (
  services: ConnectionContext & ReportContext,
  container: RemovedContainer,
) => Promise<void>;

/**
 * Deletes the log files of a removed container on the node that a command is connected to. `onKept` is called for each
 * file that is older than the container. Rejects with SystemError.
 */
export async function removeContainerLogs(
  {connections: {remote}}: ConnectionContext,
  container: RemovedContainer,
  onKept: (file: string) => void,
): Promise<void> {
  if (remote === undefined) await removeLogFiles(container, onKept);
  else await removeRemoteLogFiles(await remote.node.files(), container, onKept);
}
