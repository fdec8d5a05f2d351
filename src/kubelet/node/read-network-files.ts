import {readFile} from 'node:fs/promises';
import {coalesce} from '../../base/async/coalesce.js';
import {systemClock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {FileCache} from '../../base/fs/file-cache.js';
import {formatPathError} from '../../base/system-error-message.js';
import type {ResolvConf} from '../contract/node-facts.js';

/**
 * Reads the resolver configuration of the node; undefined if `path` is empty (network/dns getDNSConfig). Rejects with
 * SystemError with the kubelet's message.
 */
export async function readResolvConf(path: string): Promise<ResolvConf | undefined> {
  return path === '' ? undefined : parseResolvConf(await readText(path));
}

/** Reads the node's hosts file (nodeHostsFileContent). Rejects with SystemError with the kubelet's message. */
export async function readHostsFile(): Promise<string> {
  return await readText('/etc/hosts');
}

/** Files that are read for each start of a pod, again only when they have changed. */
const files = new FileCache(() => systemClock.now());
/** Readers by path: pods that start at the same time share a reading. */
const readers = new Map<string, () => Promise<string | undefined>>();

async function readText(path: string): Promise<string> {
  const reader = readers.get(path) ?? coalesce(async () => await files.read(path, (text) => text));
  readers.set(path, reader);
  try {
    // A missing file is read again for the error.
    return (await reader()) ?? (await readFile(path, 'utf8'));
  } catch (error) {
    const cause = error instanceof SystemError ? error.cause : error;
    throw new SystemError(formatPathError('open', path, cause), {cause});
  }
}

/**
 * Parses resolv.conf: all nameservers, the last search line, and all options without duplicates (network/dns
 * parseResolvConf). Throws SystemError for a line without a nameserver.
 */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver') nameservers.push(requireNameserver(values[0]));
    if (keyword === 'search')
      searches = values.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
    if (keyword === 'options')
      for (const option of values) options.set(option.split(':', 1)[0] ?? option, option);
  }
  return {nameservers, searches, options: [...options.values()]};
}

function requireNameserver(address: string | undefined): string {
  if (address !== undefined) return address;
  throw new SystemError('Encountered error while parsing resolv conf file. Error: nameserver list is empty ');
}
