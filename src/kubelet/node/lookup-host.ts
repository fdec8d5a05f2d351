import {Resolver} from 'node:dns/promises';
import {readFile} from 'node:fs/promises';
import {finishesWithin} from '../../base/async/deadline.js';
import type {Clock} from '../../base/clock.js';
import {hasErrno} from '../../base/errors.js';
import {parseIp} from '../../base/net/ip-address.js';
import type {ResolvConf} from '../contract/node-facts.js';
import {readResolvConf} from './read-network-files.js';

/** Returns the IP addresses of a host name; none if it has none. */
export type LookupHost = (name: string) => Promise<readonly string[]>;

/** Looks up a host name in /etc/hosts alone. */
export const lookupInHostsFile: LookupHost = async (name) =>
  findInHostsFile(await readOptional('/etc/hosts'), name);

/** Client of the DNS servers in resolv.conf. */
type DnsResolver = Pick<Resolver, 'cancel'> &
  Readonly<Record<'resolve4' | 'resolve6', (name: string) => Promise<readonly string[]>>>;

/** Time limit of DNS queries, in ms. */
const TIMEOUT_MS = 1000;

/**
 * Returns a function that looks up a host name in /etc/hosts and then in the DNS. A DNS server that does not answer within a
 * second counts as one that does not know the name.
 */
export function createHostLookup(
  clock: Clock,
  signal: AbortSignal,
  createResolver: () => DnsResolver = () => new Resolver(),
): LookupHost {
  return async (name) => {
    const found = await lookupInHostsFile(name);
    if (found.length > 0) return found;
    // Not dns.lookup: it cannot be cancelled, and the process does not end before it has ended.
    const resolver = createResolver();
    const over = new AbortController();
    // A file that cannot be read or parsed has no search domains.
    const names = candidateNames(name, await readResolvConf('/etc/resolv.conf').catch(() => undefined));
    const answer = queryNames(resolver, names, over.signal);
    try {
      const isAnswered = await finishesWithin(answer, TIMEOUT_MS, clock, signal).catch(() => false); // aborted
      return isAnswered ? await answer : [];
    } finally {
      over.abort();
      resolver.cancel();
    }
  };
}

/** Resolves with the addresses of the first name that has some; with none if the signal aborts. */
async function queryNames(
  resolver: DnsResolver,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const name of names) {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0 || signal.aborted) return found.flatMap((ip) => parseIp(ip) ?? []);
  }
  return [];
}

/** Returns the IP addresses of a name in a hosts file. */
export function findInHostsFile(text: string, name: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return names.some((each) => each.toLowerCase() === name) ? (parseIp(ip) ?? []) : [];
  });
}

/** Returns the names to ask for, with the search domains, as a resolver does (resolv.conf search and ndots). */
export function candidateNames(
  name: string,
  {searches, options}: Pick<ResolvConf, 'searches' | 'options'> = {searches: [], options: []},
): readonly string[] {
  if (name.endsWith('.')) return [name];
  const ndots = Number(options.find((option) => option.startsWith('ndots:'))?.slice('ndots:'.length) ?? 1);
  const expanded = searches.map((domain) => `${name}.${domain}`);
  return name.split('.').length > ndots ? [name, ...expanded] : [...expanded, name];
}

async function readOptional(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return '';
    throw error;
  }
}
