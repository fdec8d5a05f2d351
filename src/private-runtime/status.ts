import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ifPresent, withFileErrors} from '../base/files.js';
import {connect} from '../cri/index.js';
import {layoutOf, POD_DIRS, type Layout} from './layout.js';
import type {Reasoned} from './machine.js';
import type {PodNetwork} from './network.js';
import {isRunning} from './process-identity.js';
import {readRecord, type RuntimeRecord} from './record.js';
import {canonical} from './root-dir.js';
import type {ConfigVersion} from './version.js';

/** What `kcri runtime status` tells. */
export type RuntimeStatus = RuntimeAbsent | RuntimePresent;

/** Nothing was started below this root directory, or all was taken down. */
export interface RuntimeAbsent {
  readonly state: 'down';
  readonly root: string;
  /** What is left all the same: directories of the root directory that hold something. */
  readonly left: readonly string[];
}

/** A runtime that was brought up: `up`, or `dead` when its containerd was killed. */
export interface RuntimePresent {
  readonly state: 'up' | 'dead';
  readonly root: string;
  readonly endpoint: string;
  /** Undefined when dead. */
  readonly pid: number | undefined;
  readonly containerd: string;
  readonly version: string;
  readonly configVersion: ConfigVersion;
  readonly runc: string;
  readonly network: PodNetwork;
  readonly iptables: Reasoned<boolean>;
  readonly snapshotter: Reasoned<string>;
  readonly restrictOomScoreAdj: Reasoned<boolean>;
  readonly log: string;
  /** Pod sandboxes and containers, running or not; undefined when dead. */
  readonly pods: number | undefined;
  readonly containers: number | undefined;
}

/** The state of the private runtime below kcri's root directory. Rejects with CriError when it doesn't answer. */
export async function runtimeStatus(rootDir: string, signal: AbortSignal): Promise<RuntimeStatus> {
  const canonicalDir = await canonical(rootDir);
  const layout = layoutOf(canonicalDir);
  const record = readRecord(rootDir);
  if (record === undefined)
    return {state: 'down', root: layout.root, left: await leftIn(canonicalDir, layout)};
  const {endpoint, containerd, version, configVersion, runc} = record;
  const {network, iptables, snapshotter, restrictOomScoreAdj} = record;
  const about = {root: layout.root, endpoint, containerd, version, configVersion, runc};
  const decided = {network, iptables, snapshotter, restrictOomScoreAdj, log: layout.logFile};
  return {...about, ...decided, ...(await liveness(record, signal))};
}

/** Without a runtime there may still be pods of others, or what a `down` that was interrupted did not get to. */
async function leftIn(rootDir: string, layout: Layout): Promise<string[]> {
  const left: string[] = [];
  for (const dir of [layout.root, ...POD_DIRS.map((name) => join(rootDir, name))]) {
    const names = await withFileErrors('reading', dir, () => ifPresent(() => readdir(dir)));
    if (names !== undefined && names.length > 0) left.push(dir);
  }
  return left;
}

async function liveness(
  record: RuntimeRecord,
  signal: AbortSignal,
): Promise<Pick<RuntimePresent, 'state' | 'pid' | 'pods' | 'containers'>> {
  if (record.process === undefined || !isRunning(record.process)) {
    return {state: 'dead', pid: undefined, pods: undefined, containers: undefined};
  }
  using connection = connect(record.endpoint);
  const pods = await connection.runtime.listPodSandbox({}, {signal});
  const {containers} = await connection.runtime.listContainers({}, {signal});
  return {state: 'up', pid: record.process.pid, pods: pods.items.length, containers: containers.length};
}
