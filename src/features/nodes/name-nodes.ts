import {hostname} from 'node:os';
import {archiveFile, archiveName} from '../../cri/endpoint.js';

/**
 * Returns a short name for each endpoint: the host of a remote node, the file of a saved one, or the name of this machine;
 * the endpoint itself if another one has the same name. Repeated endpoints count once.
 */
export function nameNodes(
  endpoints: readonly string[],
  thisMachine = hostname(),
): ReadonlyMap<string, string> {
  const names = new Map(endpoints.map((endpoint) => [endpoint, nameOf(endpoint, thisMachine)]));
  const all = [...names.values()];
  return new Map(
    [...names].map(([endpoint, name]) => [
      endpoint,
      all.filter((other) => other === name).length > 1 ? withoutPassword(endpoint) : name,
    ]),
  );
}

/** A password makes an endpoint invalid, but it must not appear in the error. */
const withoutPassword = (endpoint: string): string => endpoint.replace(/^(ssh:\/\/[^:@/]*):[^@/]*@/, '$1@');

/** An invalid endpoint is reported by its connection. */
function nameOf(endpoint: string, thisMachine: string): string {
  const file = archiveFile(endpoint);
  if (file !== undefined) return archiveName(file);
  if (!endpoint.startsWith('ssh:')) return thisMachine;
  const [, host] = /^ssh:\/\/(?:[^@/]*@)?(\[[^\]/]*\]|[^:/]*)/.exec(endpoint) ?? [];
  return host ?? endpoint;
}
