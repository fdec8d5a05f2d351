import type {ConnectionContext} from '../../../cli/command/contexts.js';
import type {FileReader} from './file-reader.js';

/**
 * Opens the reader of the files of the node that the services are connected to; its reads end when the signal aborts.
 * Rejects with RemoteError if a remote node does not give access to its files.
 */
export async function openFileReader(
  {connections: {remote}}: ConnectionContext,
  signal: AbortSignal,
): Promise<FileReader> {
  if (remote === undefined) {
    const {LocalFileReader} = await import('./local-file-reader.js');
    return await LocalFileReader.open(signal);
  }
  const {RemoteFileReader} = await import('./remote-file-reader.js');
  return await RemoteFileReader.open(remote.node, signal);
}
