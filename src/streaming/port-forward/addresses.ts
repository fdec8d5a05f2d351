import {isIP} from 'node:net';

/** Addresses that ports are opened on. At least one of a group's must do: `localhost` is one group of two. */
export interface AddressGroup {
  /** As the user named it. */
  readonly name: string;
  readonly addresses: readonly string[];
}

const LOCALHOST = ['127.0.0.1', '::1'];

/**
 * The addresses that words stand for, each once, `localhost` being the loopback of both IP families; or the
 * first word that is no address.
 */
export function addressGroups(
  names: readonly string[],
): {readonly groups: readonly AddressGroup[]} | {readonly bad: string} {
  const bad = names.find((name) => name !== 'localhost' && isIP(bare(name)) === 0);
  if (bad !== undefined) return {bad};
  const taken = new Set<string>();
  const groups = names.map((name) => {
    const addresses = (name === 'localhost' ? LOCALHOST : [bare(name)]).filter((one) => !taken.has(one));
    for (const address of addresses) taken.add(address);
    return {name, addresses};
  });
  return {groups: groups.filter(({addresses}) => addresses.length > 0)};
}

/** An IPv6 address may stand in brackets. */
function bare(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1');
}
