import {readFile} from 'node:fs/promises';
import {isSystemCallError} from '../../../../base/errors.js';
import type {NetworkUsage} from '../../../../cri/index.js';

/** Packet counters of a network interface. */
export interface PacketUsage {
  readonly name: string;
  readonly rxPackets: bigint;
  readonly rxDropped: bigint;
  readonly txPackets: bigint;
  readonly txDropped: bigint;
}

/**
 * Reads the packets of the interfaces in the network namespace of a process, only of those of `network` if given; none if the
 * process does not exist anymore.
 */
export async function readPacketUsage(
  pid: string,
  network?: Pick<NetworkUsage, 'interfaces'>,
): Promise<readonly PacketUsage[]> {
  const known = network && new Set(network.interfaces.map(({name}) => name));
  try {
    const all = parsePackets(await readFile(`/proc/${pid}/net/dev`, 'utf8'));
    return all.filter(({name}) => known?.has(name) ?? true);
  } catch (error) {
    if (isSystemCallError(error)) return [];
    throw error;
  }
}

/** Parses interfaces in the format of /proc/net/dev. */
function parsePackets(text: string): readonly PacketUsage[] {
  return text
    .split('\n')
    .slice(2)
    .flatMap((line): readonly PacketUsage[] => {
      const [name = '', rest = ''] = line.split(':').map((part) => part.trim());
      if (name === '' || name === 'lo') return [];
      const numbers = rest.split(/\s+/).map((word) => BigInt(word));
      const at = (index: number): bigint => numbers[index] ?? 0n;
      return [{name, rxPackets: at(1), rxDropped: at(3), txPackets: at(9), txDropped: at(11)}];
    });
}
