import type {LogFiles} from '../../operations/logs/log-files.js';
import type {ConnectionContext} from '../../cli/command/contexts.js';

/** Returns the log files of the remote node that a command is connected to; undefined for those of this machine. */
export async function logFilesOf({connections}: ConnectionContext): Promise<LogFiles | undefined> {
  const {remote} = connections;
  if (remote === undefined) return undefined;
  const {createRemoteLogFiles} = await import('../../operations/logs/remote-log-files.js');
  return createRemoteLogFiles(async () => await remote.node.files());
}
