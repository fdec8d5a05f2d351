import type {LogFiles} from '../../operations/logs/log-files.js';
import type {ConnectionContext} from '../../cli/command/contexts.js';

/**
 * Returns the log files of the remote or saved node that a command is connected to; undefined for those of this machine.
 * `onNotice` receives what a saved node lacks of them.
 */
export async function logFilesOf(
  {connections}: ConnectionContext,
  onNotice: (text: string) => void = () => undefined,
): Promise<LogFiles | undefined> {
  const {remote, saved} = connections;
  if (saved !== undefined) {
    const {createRecordedLogFiles} = await import('../../cli/archive/recorded-logs.js');
    return createRecordedLogFiles(saved, onNotice);
  }
  if (remote === undefined) return undefined;
  const {createRemoteLogFiles} = await import('../../operations/logs/remote-log-files.js');
  return createRemoteLogFiles(async () => await remote.node.files());
}
