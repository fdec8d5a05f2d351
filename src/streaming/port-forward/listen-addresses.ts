import {isIP} from 'node:net';

/** Addresses to listen on. At least one of a group must succeed: `localhost` is a group of two. */
export interface AddressGroup {
  /** Name given by the user. */
  readonly name: string;
  readonly addresses: readonly string[];
}

const LOCALHOST = ['127.0.0.1', '::1'];

/**
 * Parses listen addresses and removes duplicates. `localhost` is the loopback address of both IP families. Returns
 * the first invalid name in `bad`.
 */
export function parseListenAddresses(
  names: readonly string[],
): {readonly groups: readonly AddressGroup[]} | {readonly bad: string} {
  const bad = names.find((name) => name !== 'localhost' && isIP(withoutBrackets(name)) === 0);
  if (bad !== undefined) return {bad};
  const known = new Set<string>();
  const groups = names.map((name) => {
    const addresses = (name === 'localhost' ? LOCALHOST : [withoutBrackets(name)]).filter(
      (each) => !known.has(each),
    );
    for (const address of addresses) known.add(address);
    return {name, addresses};
  });
  return {groups: groups.filter(({addresses}) => addresses.length > 0)};
}

/** Removes the brackets of an IPv6 address. */
function withoutBrackets(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1');
}
