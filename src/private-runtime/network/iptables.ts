import {Readable} from 'node:stream';
import {SystemError} from '../../base/errors.js';
import {runHostProgram} from '../process/run-host-program.js';

const DNAT = 'CNI-HOSTPORT-DNAT';
const HOST_PORT_CHAINS = [DNAT, 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];

/**
 * Removes what the CNI plugins left for this network in the NAT tables of IPv4 and IPv6, and the host-port chains,
 * which all CNI networks share, if no host port uses them. Only one process may call this at a time.
 */
export async function removeIptablesRules(network: string): Promise<void> {
  for (const family of ['iptables', 'ip6tables']) {
    await change(family, removalScript(await savedRules(family), network));
    await removeSharedChains(family);
  }
}

/** Applies a change. If another runtime's plugin uses the chains in the meantime, the kernel refuses and they stay. */
async function removeSharedChains(family: string): Promise<void> {
  const before = await savedRules(family);
  try {
    await change(family, sharedRemovalScript(before));
  } catch (error) {
    if (!(error instanceof SystemError) || (await savedRules(family)) === before) throw error;
  }
}

async function change(family: string, script: string | undefined): Promise<void> {
  if (script === undefined) return;
  await runHostProgram(`${family}-restore`, ['--noflush', '--wait'], {input: Readable.from([script])});
}

/**
 * Returns the iptables-restore input that removes the network's rules and chains from the saved NAT table. The plugins
 * name the network in a comment of each rule that jumps to one of their chains. Undefined if there is nothing to
 * remove.
 */
export function removalScript(saved: string, network: string): string | undefined {
  const rules = rulesOf(saved);
  const own = rules.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  const chains = new Set(
    [...own.flatMap(targetOf), ...own.map(chainOf)].filter((chain) => /^CNI-(?!HOSTPORT)/.test(chain)),
  );
  const leading = rules.filter(
    (rule) =>
      !chains.has(chainOf(rule)) &&
      (own.includes(rule) || targetOf(rule).some((target) => chains.has(target))),
  );
  return scriptOf(leading, [...chains], [...chains]);
}

/**
 * Returns the iptables-restore input that removes the host-port chains if no host port uses them. DNAT, which has a
 * rule per host port, is not flushed: a rule added in the meantime makes the kernel refuse the whole input. Undefined
 * if there is nothing to remove.
 */
export function sharedRemovalScript(saved: string): string | undefined {
  const [lines, rules] = [saved.split('\n'), rulesOf(saved)];
  if (rules.some((rule) => chainOf(rule) === DNAT)) return undefined;
  const chains = HOST_PORT_CHAINS.filter((chain) => lines.some((line) => line.startsWith(`:${chain} `)));
  const leading = rules.filter(
    (rule) => !chains.includes(chainOf(rule)) && targetOf(rule).some((target) => chains.includes(target)),
  );
  return scriptOf(
    leading,
    chains.filter((chain) => chain !== DNAT),
    chains,
  );
}

function scriptOf(
  rules: readonly string[],
  emptied: readonly string[],
  removed: readonly string[],
): string | undefined {
  if (rules.length === 0 && removed.length === 0) return undefined;
  return [
    '*nat',
    ...rules.map((rule) => `-D ${rule.slice('-A '.length)}`),
    ...emptied.map((chain) => `-F ${chain}`),
    ...removed.map((chain) => `-X ${chain}`),
    'COMMIT',
    '',
  ].join('\n');
}

function rulesOf(saved: string): readonly string[] {
  return saved.split('\n').filter((line) => line.startsWith('-A '));
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
    return await runHostProgram(`${family}-save`, ['-t', 'nat']);
  } catch (error) {
    // Without iptables for this family, no plugin has created a rule with it.
    if (error instanceof SystemError) return '';
    throw error;
  }
}
