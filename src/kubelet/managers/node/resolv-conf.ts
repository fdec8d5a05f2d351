import type {ResolvConf} from '../../contract/node-facts.js';

/**
 * Parses resolv.conf: all nameservers, the last search line, and all options without duplicates (network/dns
 * parseResolvConf).
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
    if (keyword === 'nameserver' && values[0] !== undefined) nameservers.push(values[0]);
    if (keyword === 'search')
      searches = values.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
    if (keyword === 'options')
      for (const option of values) options.set(option.split(':', 1)[0] ?? option, option);
  }
  return {nameservers, searches, options: [...options.values()]};
}
