import {join} from 'node:path';
import {listNames} from '../../base/fs/files.js';
import {connect} from '../../cri/index.js';
import {computeRuntimeLayout, POD_DIRS, type PrivateRuntimeLayout} from '../private-runtime-layout.js';
import type {WithReason} from '../host/host-capabilities.js';
import type {PodNetwork} from '../network/pod-network.js';
import {isRunning} from '../process/running-process.js';
import {readRuntimeRecord, type RuntimeRecord} from '../private-runtime-record.js';
import {canonicalDirectory} from '../root-dir.js';
import type {ConfigVersion} from '../containerd/containerd-version.js';

/** Status of the private runtime, for `kcri runtime status`. */
export type RuntimeStatus = RuntimeAbsent | RuntimePresent;

/** No runtime: nothing was started below this root directory, or everything was removed. */
export interface RuntimeAbsent {
  readonly state: 'down';
  readonly root: string;
  /** Directories of the root directory that are not empty. */
  readonly left: readonly string[];
}

/** A runtime that was started: `up`, or `dead` if its containerd was killed. */
export interface RuntimePresent {
  readonly state: 'up' | 'dead';
  readonly root: string;
  readonly endpoint: string;
  /** Undefined if dead. */
  readonly pid: number | undefined;
  readonly containerd: string;
  readonly version: string;
  readonly configVersion: ConfigVersion;
  readonly runc: string;
  readonly network: PodNetwork;
  readonly iptables: WithReason<boolean>;
  readonly snapshotter: WithReason<string>;
  readonly restrictOomScoreAdj: WithReason<boolean>;
  readonly log: string;
  /** Number of PodSandboxes and containers in any state; undefined if dead. */
  readonly pods: number | undefined;
  readonly containers: number | undefined;
}

/**
 * Returns the status of the private runtime below kcri's root directory. Rejects with CriError if it does not respond.
 */
export async function runtimeStatus(rootDir: string, signal: AbortSignal): Promise<RuntimeStatus> {
  const canonicalDir = await canonicalDirectory(rootDir);
  const layout = computeRuntimeLayout(canonicalDir);
  const record = readRuntimeRecord(rootDir);
  if (record === undefined)
    return {state: 'down', root: layout.root, left: await leftIn(canonicalDir, layout)};
  const {endpoint, containerd, version, configVersion, runc} = record;
  const {network, iptables, snapshotter, restrictOomScoreAdj} = record;
  const about = {root: layout.root, endpoint, containerd, version, configVersion, runc};
  const decided = {network, iptables, snapshotter, restrictOomScoreAdj, log: layout.logFile};
  return {...about, ...decided, ...(await liveness(record, signal))};
}

/** Returns leftovers without a runtime: pods on other runtimes, or what an interrupted `down` did not remove. */
async function leftIn(rootDir: string, layout: PrivateRuntimeLayout): Promise<string[]> {
  const left: string[] = [];
  for (const dir of [layout.root, ...POD_DIRS.map((name) => join(rootDir, name))]) {
    if ((await listNames(dir)).length > 0) left.push(dir);
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
