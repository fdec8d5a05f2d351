import type {Clock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import type {FileCredentials} from '../../kube-api/index.js';

/** API server of a kubeconfig, with the credentials of the moment. */
interface OpenedKubeconfig {
  readonly server: URL;
  readonly credentials: Awaited<ReturnType<FileCredentials['current']>>;
}

/** Reads the kubeconfig of a node. Rejects with ConfigError, and with SystemError if its credentials come from a program, which is not run. */
export async function openKubeconfig(
  file: string,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<OpenedKubeconfig> {
  const {openCredentials, readClusterAccess} = await import('../../kube-api/index.js');
  const access = await readClusterAccess(file, signal);
  if (access.exec !== undefined)
    throw new SystemError('its credentials come from a program, which is not run');
  return {server: access.server, credentials: await (await openCredentials(access, {file, clock})).current()};
}
