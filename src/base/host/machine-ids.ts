import {readFile} from 'node:fs/promises';
import {bootId} from '../boot-id.js';
import {ifPresent} from '../fs/files.js';

/** Identifiers of the machine. */
export interface MachineIds {
  /** Content of /etc/machine-id; empty without that file. */
  readonly machineId: string;
  /** UUID of the hardware; the machine ID if the kernel reports none. */
  readonly systemUuid: string;
  /** The kernel's ID of this boot. */
  readonly bootId: string;
}

/** Reads the identifiers of the machine. Rejects with SystemError if a file exists but cannot be read. */
export async function readMachineIds(): Promise<MachineIds> {
  const [machineId, systemUuid] = await Promise.all(
    ['/etc/machine-id', '/sys/class/dmi/id/product_uuid'].map(readOptional),
  );
  return {
    machineId: machineId ?? '',
    systemUuid: systemUuid === '' ? (machineId ?? '') : (systemUuid ?? ''),
    bootId: bootId(),
  };
}

async function readOptional(path: string): Promise<string> {
  return ((await ifPresent(async () => await readFile(path, 'utf8'))) ?? '').trim();
}
