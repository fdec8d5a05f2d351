import {Readable} from 'node:stream';
import {SystemError} from '../base/errors.js';
import {runProgram} from './run-program.js';

const HOST_PORT_CHAINS = ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];

/** Removes what the CNI plugins made for this network and left in the NAT tables of IPv4 and IPv6. */
export async function removeIptablesRules(network: string): Promise<void> {
  for (const family of ['iptables', 'ip6tables']) {
    const script = removalScript(await savedRules(family), network);
    if (script === undefined) continue;
    await runProgram(`${family}-restore`, ['--noflush', '--wait'], {input: Readable.from([script])});
  }
}

/**
 * The iptables-restore input that removes the network's rules and chains from the saved NAT table: the
 * plugins name the network in a comment of each rule that leads to a chain of their own. The host-port chains,
 * which all CNI networks share, go when no rule is left in them. Undefined when there is nothing to do.
 */
export function removalScript(saved: string, network: string): string | undefined {
  const lines = saved.split('\n');
  const rules = lines.filter((line) => line.startsWith('-A '));
  const own = rules.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  const ownChains = new Set(
    [...own.flatMap(targetOf), ...own.map(chainOf)].filter((chain) => /^CNI-(?!HOSTPORT)/.test(chain)),
  );
  const kept = rules.filter((rule) => !own.includes(rule) && !ownChains.has(chainOf(rule)));
  const shared = unusedHostPortChains(lines, kept);
  const gone = [...ownChains, ...shared];
  const leading = rules.filter(
    (rule) =>
      !gone.includes(chainOf(rule)) &&
      (own.includes(rule) || targetOf(rule).some((target) => gone.includes(target))),
  );
  if (gone.length === 0 && leading.length === 0) return undefined;
  return [
    '*nat',
    ...leading.map((rule) => `-D ${rule.slice('-A '.length)}`),
    ...gone.map((chain) => `-F ${chain}`),
    ...gone.map((chain) => `-X ${chain}`),
    'COMMIT',
    '',
  ].join('\n');
}

/** Its rules there or nothing: DNAT is the chain that every host port has a rule in. */
function unusedHostPortChains(lines: readonly string[], kept: readonly string[]): string[] {
  if (kept.some((rule) => chainOf(rule) === 'CNI-HOSTPORT-DNAT')) return [];
  return HOST_PORT_CHAINS.filter((chain) => lines.some((line) => line.startsWith(`:${chain} `)));
}

function chainOf(rule: string): string {
  return rule.split(' ')[1] ?? '';
}

function targetOf(rule: string): string[] {
  const target = / -j (\S+)/.exec(rule)?.[1];
  return target === undefined ? [] : [target];
}

async function savedRules(family: string): Promise<string> {
  try {
    return await runProgram(`${family}-save`, ['-t', 'nat']);
  } catch (error) {
    // No iptables, or none for this family: then no plugin made a rule with it.
    if (error instanceof SystemError) return '';
    throw error;
  }
}
