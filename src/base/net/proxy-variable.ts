import {BlockList, isIP} from 'node:net';

type Env = Readonly<Record<string, string | undefined>>;

/** Address to which a request is sent. */
export interface RequestAddress {
  readonly host: string;
  readonly port: number;
  /** True for a request with TLS. */
  readonly secure: boolean;
}

/** Variable that names a proxy. */
export interface ProxyVariable {
  readonly name: string;
  /** URL of the proxy; undefined if the value is not a URL. */
  readonly url: URL | undefined;
}

/**
 * Returns the variable with the proxy for an address, by the rules of Go programs (http.ProxyFromEnvironment): HTTP_PROXY
 * or HTTPS_PROXY in either case, NO_PROXY with hosts, domains, addresses and networks; never for loopback addresses.
 */
export function findProxyVariable(address: RequestAddress, env: Env): ProxyVariable | undefined {
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
  return {name, url: URL.canParse(absolute) ? new URL(absolute) : undefined};
}

/** An IPv4 address of this machine. Not isIP: loading node:net takes a fifth of a command's start. */
const LOOPBACK = /^127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$/;

/** Reports whether a host is this machine, which needs no proxy. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || LOOPBACK.test(host);
}

function variable(env: Env, name: string): string {
  return [env[name], env[name.toLowerCase()]].find((value) => value !== undefined && value !== '') ?? '';
}

/** Reports whether an entry of NO_PROXY matches the address. */
function matchesRule(rule: string, {host, port}: RequestAddress): boolean {
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
