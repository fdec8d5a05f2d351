import {parseListeningSockets, type ListeningSocket} from '../../../base/host/find-port-owner.js';
import {isMissing, mapFact, valueOf, type Fact} from '../fact.js';
import type {FileReader} from './file-reader.js';

/** Maximum length of a list of sockets, in bytes. The kernel lists those that listen first. */
const MAX_BYTES = 1024 * 1024;

/** Reads the TCP sockets of a node that listen. A kernel without IPv6 has no list of such sockets. */
export async function readListeningSockets(node: FileReader): Promise<Fact<readonly ListeningSocket[]>> {
  const [v4, v6] = await Promise.all([
    node.text('/proc/net/tcp', MAX_BYTES),
    node.text('/proc/net/tcp6', MAX_BYTES),
  ]);
  if ('error' in v6 && !isMissing(v6)) return v6;
  return mapFact(v4, (text) => parseListeningSockets(text, valueOf(v6) ?? ''));
}
