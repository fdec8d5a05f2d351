import {writeFileAtomic} from '../base/files.js';
import type {BinaryChoice} from './binaries.js';
import {readJson, recordPath} from './endpoint.js';
import type {Reasoned} from './machine.js';
import type {PodNetwork} from './network.js';
import type {ProcessIdentity} from './process-identity.js';
import type {ConfigVersion} from './version.js';

/** What `kcri runtime up` writes down about the runtime it started. */
export interface RuntimeRecord {
  readonly endpoint: string;
  /** Whether kcri's root directory itself was made by `up`, to go with the last thing in it. */
  readonly madeRootDir: boolean;
  /** containerd; undefined until it was started. */
  readonly process?: ProcessIdentity | undefined;
  readonly choice: BinaryChoice;
  /** The programs in use, by their full paths. */
  readonly containerd: string;
  readonly ctr: string;
  readonly runc: string;
  readonly version: string;
  readonly configVersion: ConfigVersion;
  readonly network: PodNetwork;
  readonly iptables: Reasoned<boolean>;
  readonly snapshotter: Reasoned<string>;
  readonly restrictOomScoreAdj: Reasoned<boolean>;
}

/** The record below kcri's root directory; undefined when nothing was started there. */
export function readRecord(rootDir: string): RuntimeRecord | undefined {
  return readJson(recordPath(rootDir)) as RuntimeRecord | undefined;
}

/** Writes the record, so that a reader sees the old one or the new one, whole. */
export async function writeRecord(rootDir: string, record: RuntimeRecord): Promise<void> {
  await writeFileAtomic(recordPath(rootDir), `${JSON.stringify(record, undefined, 2)}\n`, 0o644);
}
