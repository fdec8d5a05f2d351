import {gunzipSync} from 'node:zlib';
import {readFile} from 'node:fs/promises';
import {mapFact, valueOf, type Fact} from '../fact.js';
import {KERNEL_OPTIONS} from '../kernel-options.js';
import type {KernelFacts} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Size of the configuration of a kernel; usual ones have 300 KiB. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Reads the options of the running kernel that containers need. */
export async function readKernel(node: FileReader): Promise<KernelFacts> {
  const release = (valueOf(await node.text('/proc/sys/kernel/osrelease')) ?? '').trim();
  const packed = await node.onNode(
    async () => gunzipSync(await readFile('/proc/config.gz'), {maxOutputLength: MAX_BYTES}).toString(),
    '/proc/config.gz',
    async (probe) => await (await import('./remote-probes.js')).remoteKernelConfig(probe),
  );
  if ('value' in packed) return {config: mapFact(packed, parseKernelConfig)};
  const places = [`/boot/config-${release}`, `/lib/modules/${release}/config`];
  const texts = await Promise.all(places.map(async (path) => await node.text(path, MAX_BYTES)));
  const found: Fact<string> = texts.find((text) => 'value' in text) ?? {
    error: `neither /proc/config.gz nor ${places.join(' nor ')} can be read`,
  };
  return {config: mapFact(found, parseKernelConfig)};
}

/** Returns the values of the options that are examined. Pure. */
export function parseKernelConfig(text: string): Readonly<Record<string, 'y' | 'm' | 'n'>> {
  const set = new Map(
    [...text.matchAll(/^CONFIG_(\w+)=([ym])$/gm)].map(([, name = '', value]) => [
      name,
      value === 'y' ? 'y' : 'm',
    ]),
  );
  return Object.fromEntries(
    KERNEL_OPTIONS.map(({name}) => [name, (set.get(name) ?? 'n') as 'y' | 'm' | 'n']),
  );
}
