import {writeFileAtomic} from '../base/fs/atomic-write.js';
import type {BinaryChoice} from './containerd/binaries.js';
import {tryReadJson, runtimeRecordPath} from './private-endpoint.js';
import type {WithReason} from './host/host-capabilities.js';
import type {PodNetwork} from './network/pod-network.js';
import type {ProcessIdentity} from './process/running-process.js';
import type {ConfigVersion} from './containerd/containerd-version.js';

/** Record of the runtime that `kcri runtime up` started. */
export interface RuntimeRecord {
  readonly endpoint: string;
  /** True if `up` created kcri's root directory, which is then removed when it becomes empty. */
  readonly madeRootDir: boolean;
  /** Identity of containerd; undefined until it was started. */
  readonly process?: ProcessIdentity | undefined;
  readonly choice: BinaryChoice;
  /** Full paths of the programs in use. */
  readonly containerd: string;
  readonly ctr: string;
  readonly runc: string;
  readonly version: string;
  readonly configVersion: ConfigVersion;
  readonly network: PodNetwork;
  readonly iptables: WithReason<boolean>;
  readonly snapshotter: WithReason<string>;
  readonly restrictOomScoreAdj: WithReason<boolean>;
}

/** Reads the record below kcri's root directory; undefined if no runtime was started. */
export function readRuntimeRecord(rootDir: string): RuntimeRecord | undefined {
  return tryReadJson(runtimeRecordPath(rootDir)) as RuntimeRecord | undefined;
}

/** Writes the record atomically. */
export async function writeRuntimeRecord(rootDir: string, record: RuntimeRecord): Promise<void> {
  await writeFileAtomic(runtimeRecordPath(rootDir), `${JSON.stringify(record, undefined, 2)}\n`, 0o644);
}
