import {readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {bootId} from '../../base/boot-id.js';
import type {Clock} from '../../base/clock.js';
import {writeFileAtomic} from '../../base/fs/atomic-write.js';
import {makeDirectoryPath} from '../../base/fs/make-directory-path.js';
import {
  findBinaries,
  containerdSearchPath,
  type Binaries,
  type BinaryChoice,
} from '../containerd/binaries.js';
import {ensureNetwork} from '../network/bridge.js';
import {renderContainerdConfig} from '../containerd/containerd-config.js';
import {startContainerd, waitUntilReady} from '../containerd/start-containerd.js';
import {createCtrClient} from '../containerd/ctr-client.js';
import type {PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {
  readProcessStatus,
  shouldRestrictOomScoreAdj,
  shouldUseSystemdCgroup,
  detectIptables,
  detectSnapshotter,
} from '../host/host-capabilities.js';
import {unmountAndRemove} from '../host/mounts.js';
import {renderConflist} from '../network/pod-network.js';
import {ensurePauseImage} from '../image/pause-image.js';
import {terminateProcesses, isContainerdWithConfig, listProcesses} from '../process/processes.js';
import {writeRuntimeRecord, type RuntimeRecord} from '../private-runtime-record.js';
import {runHostProgram} from '../process/run-host-program.js';
import {
  configVersionOf,
  parseContainerdVersion,
  type ContainerdVersion,
} from '../containerd/containerd-version.js';

/** Context to start a runtime. */
export interface StartContext {
  /** kcri's root directory without symbolic links. */
  readonly rootDir: string;
  readonly madeRootDir: boolean;
  readonly layout: PrivateRuntimeLayout;
  readonly onProgress: (step: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Starts containerd and waits until pods can run on it. `before` is the record of the last start; network and
 * snapshotter stay the same. The configuration is written again, so that an upgraded containerd gets the format it
 * reads. Rejects with SystemError.
 */
export async function startRuntime(
  choice: BinaryChoice,
  before: RuntimeRecord | undefined,
  context: StartContext,
): Promise<RuntimeRecord> {
  const {rootDir, layout, onProgress, clock, signal} = context;
  const path = process.env['PATH'] ?? '';
  const binaries = findBinaries(choice, path);
  const version = parseContainerdVersion(await runHostProgram(binaries.containerd, ['--version'], {signal}));
  await stopUnrecordedContainerd(context);
  // The state of an earlier boot is invalid: its processes and mounts no longer exist.
  if (before?.process !== undefined && before.process.bootId !== bootId())
    await unmountAndRemove(layout.stateDir);
  await makeDirectories(layout);
  const record = await decide({choice, binaries, version, before}, context);
  await writeRuntimeRecord(rootDir, record);
  await writeConfiguration(record, {binaries, version}, layout);
  onProgress(`starting containerd ${version.text}`);
  const containerd = await startContainerd(binaries.containerd, layout, containerdSearchPath(binaries, path));
  const started = {...record, process: containerd};
  await writeRuntimeRecord(rootDir, started);
  await waitUntilReady({layout, containerd, clock}, signal);
  const client = createCtrClient(binaries.ctr, layout.socket, record.snapshotter.value);
  await ensurePauseImage(client, signal);
  return started;
}

/** Stops a containerd of this runtime that was started but not recorded, or that never became ready. */
export async function stopUnrecordedContainerd({
  layout,
  clock,
}: Pick<StartContext, 'layout' | 'clock'>): Promise<void> {
  const found = listProcesses().filter((candidate) => isContainerdWithConfig(layout.configFile, candidate));
  await terminateProcesses(
    found.map(({identity}) => identity),
    {graceMs: 5000, clock},
  );
}

async function makeDirectories(layout: PrivateRuntimeLayout): Promise<void> {
  for (const dir of [layout.root, layout.stateDir, layout.tempDir, layout.cniConfDir, layout.ipamDir]) {
    await makeDirectoryPath(dir, 0o711);
  }
}

interface Given {
  readonly choice: BinaryChoice;
  readonly binaries: Binaries;
  readonly version: ContainerdVersion;
  readonly before: RuntimeRecord | undefined;
}

async function decide(
  given: Given,
  {layout, madeRootDir, onProgress, signal}: StartContext,
): Promise<RuntimeRecord> {
  const {choice, binaries, version, before} = given;
  const {containerd, ctr, runc} = binaries;
  const iptables = await detectIptables(signal);
  if (!iptables.value)
    onProgress(`pods have no network access beyond this machine and no host ports: ${iptables.reason}`);
  return {
    endpoint: layout.endpoint,
    madeRootDir,
    choice,
    containerd,
    ctr,
    runc,
    version: version.text,
    configVersion: configVersionOf(version),
    // Images that were unpacked for one snapshotter do not exist for another.
    snapshotter: before?.snapshotter ?? (await detectSnapshotter(layout.tempDir, signal)),
    restrictOomScoreAdj: shouldRestrictOomScoreAdj(readProcessStatus()),
    iptables,
    network: await ensureNetwork(layout, before?.network, signal),
  };
}

async function writeConfiguration(
  record: RuntimeRecord,
  {binaries, version}: {readonly binaries: Binaries; readonly version: ContainerdVersion},
  layout: PrivateRuntimeLayout,
): Promise<void> {
  const {ipamDir, cniConfDir, configFile} = layout;
  for (const name of await readdir(cniConfDir)) await rm(join(cniConfDir, name));
  const network = renderConflist(record.network, {ipamDir, iptables: record.iptables.value});
  await writeFileAtomic(join(cniConfDir, '10-kcri.conflist'), network, 0o644);
  const config = renderContainerdConfig({
    version,
    layout,
    runc: binaries.runc,
    cniBinDir: binaries.cniBinDir,
    snapshotter: record.snapshotter.value,
    restrictOomScoreAdj: record.restrictOomScoreAdj.value,
    systemdCgroup: shouldUseSystemdCgroup(),
  });
  await writeFileAtomic(configFile, config, 0o600);
}
