import {BlockList, isIP} from 'node:net';
import {isLoopback, type StreamingAddress} from '../streaming-address.js';
import {StreamingError} from '../errors.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the HTTP proxy for an address, by the rules of Go programs: HTTP_PROXY or HTTPS_PROXY in either case,
 * NO_PROXY with hosts, domains, addresses and networks; never for loopback addresses. Throws StreamingError for an
 * unsupported proxy.
 */
export function proxyFromEnvironment(address: StreamingAddress, env: Env): URL | undefined {
  if (isLoopback(address.host)) return undefined;
  const name = address.secure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = variable(env, name);
  if (
    text === '' ||
    variable(env, 'NO_PROXY')
      .split(',')
      .some((rule) => matchesRule(rule.trim(), address))
  )
    return undefined;
  const absolute = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(absolute) ? new URL(absolute) : undefined;
  if (url?.protocol !== 'http:')
    throw new StreamingError(`${name} must be an HTTP proxy URL`, {
      hint: `use http://HOST:PORT, or add ${address.host} to NO_PROXY`,
    });
  return url;
}

function variable(env: Env, name: string): string {
  return [env[name], env[name.toLowerCase()]].find((value) => value !== undefined && value !== '') ?? '';
}

/** Reports whether an entry of NO_PROXY matches the address. */
function matchesRule(rule: string, {host, port}: StreamingAddress): boolean {
  if (rule === '') return false;
  if (rule === '*') return true;
  const [, name = '', rulePort] =
    /^(.*?|\[.*\])(?::(\d+))?$/.exec(isIP(rule) === 6 ? `[${rule}]` : rule) ?? [];
  if (rulePort !== undefined && Number(rulePort) !== port) return false;
  const pattern = name.replace(/^\[(.*)\]$/, '$1');
  if (pattern.includes('/')) return isIn(pattern, host);
  const domain = pattern.replace(/^\*\./, '.').toLowerCase();
  if (domain.startsWith('.')) return host.toLowerCase().endsWith(domain);
  return host.toLowerCase() === domain || host.toLowerCase().endsWith(`.${domain}`);
}

function isIn(network: string, host: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(base);
  if (family === 0 || family !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
