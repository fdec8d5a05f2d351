import {mkdir, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {bootId} from '../base/boot-id.js';
import type {Clock} from '../base/clock.js';
import {withFileErrors, writeFileAtomic} from '../base/files.js';
import {findBinaries, searchPath, type Binaries, type BinaryChoice} from './binaries.js';
import {ensureNetwork} from './bridge.js';
import {containerdConfig} from './containerd-config.js';
import {startContainerd, waitUntilReady} from './containerd.js';
import {containerdClient} from './ctr.js';
import type {Layout} from './layout.js';
import {
  ownStatus,
  restrictOomScoreAdj,
  systemdOwnsCgroups,
  usableIptables,
  usableSnapshotter,
} from './machine.js';
import {unmountAndRemove} from './mounts.js';
import {conflist} from './network.js';
import {ensurePauseImage} from './pause-image.js';
import {endProcesses, isContainerdWith, listProcesses} from './processes.js';
import {writeRecord, type RuntimeRecord} from './record.js';
import {runProgram} from './run-program.js';
import {configVersionOf, parseContainerdVersion, type ContainerdVersion} from './version.js';

/** Where and with what a runtime is started. */
export interface StartContext {
  /** kcri's root directory, without symbolic links. */
  readonly rootDir: string;
  readonly madeRootDir: boolean;
  readonly layout: Layout;
  readonly progress: (step: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Starts the containerd that doesn't run and waits until pods can run on it. `before` is what was written down
 * the last time; network and snapshotter stay the same. The configuration is made anew, so that an upgraded
 * containerd gets the form it reads. Throws SystemError.
 */
export async function start(
  choice: BinaryChoice,
  before: RuntimeRecord | undefined,
  context: StartContext,
): Promise<RuntimeRecord> {
  const {rootDir, layout, progress, clock, signal} = context;
  const path = process.env['PATH'] ?? '';
  const binaries = findBinaries(choice, path);
  const version = parseContainerdVersion(await runProgram(binaries.containerd, ['--version'], {signal}));
  await endUnrecorded(context);
  // What an earlier boot left of containerd's state is void: its processes and mounts are gone.
  if (before?.process !== undefined && before.process.bootId !== bootId())
    await unmountAndRemove(layout.stateDir);
  await makeDirectories(layout);
  const record = await decide({choice, binaries, version, before}, context);
  await writeRecord(rootDir, record);
  await writeConfiguration(record, {binaries, version}, layout);
  progress(`starting containerd ${version.text}`);
  const containerd = await startContainerd(binaries.containerd, layout, searchPath(binaries, path));
  const started = {...record, process: containerd};
  await writeRecord(rootDir, started);
  await waitUntilReady({layout, containerd, clock}, signal);
  const client = containerdClient(binaries.ctr, layout.socket, record.snapshotter.value);
  await ensurePauseImage(client, signal);
  return started;
}

/** Ends a containerd of this runtime that was started but not written down, or that never became ready. */
export async function endUnrecorded({layout, clock}: Pick<StartContext, 'layout' | 'clock'>): Promise<void> {
  const found = listProcesses().filter((candidate) => isContainerdWith(layout.configFile, candidate));
  await endProcesses(
    found.map(({identity}) => identity),
    {graceMs: 5000, clock},
  );
}

async function makeDirectories(layout: Layout): Promise<void> {
  for (const dir of [layout.root, layout.stateDir, layout.tempDir, layout.cniConfDir, layout.ipamDir]) {
    await withFileErrors('making the directory', dir, () => mkdir(dir, {recursive: true, mode: 0o711}));
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
  {layout, madeRootDir, progress, signal}: StartContext,
): Promise<RuntimeRecord> {
  const {choice, binaries, version, before} = given;
  const {containerd, ctr, runc} = binaries;
  const iptables = await usableIptables(signal);
  if (!iptables.value) progress(`pods get no way out of the machine and no host ports: ${iptables.reason}`);
  return {
    endpoint: layout.endpoint,
    madeRootDir,
    choice,
    containerd,
    ctr,
    runc,
    version: version.text,
    configVersion: configVersionOf(version),
    // Images that were unpacked for one snapshotter aren't there for another.
    snapshotter: before?.snapshotter ?? (await usableSnapshotter(layout.tempDir, signal)),
    restrictOomScoreAdj: restrictOomScoreAdj(ownStatus()),
    iptables,
    network: await ensureNetwork(layout, before?.network, signal),
  };
}

async function writeConfiguration(
  record: RuntimeRecord,
  {binaries, version}: {readonly binaries: Binaries; readonly version: ContainerdVersion},
  layout: Layout,
): Promise<void> {
  const {ipamDir, cniConfDir, configFile} = layout;
  for (const name of await readdir(cniConfDir)) await rm(join(cniConfDir, name));
  const network = conflist(record.network, {ipamDir, iptables: record.iptables.value});
  await writeFileAtomic(join(cniConfDir, '10-kcri.conflist'), network, 0o644);
  const config = containerdConfig({
    version,
    layout,
    runc: binaries.runc,
    cniBinDir: binaries.cniBinDir,
    snapshotter: record.snapshotter.value,
    restrictOomScoreAdj: record.restrictOomScoreAdj.value,
    systemdCgroup: systemdOwnsCgroups(),
  });
  await writeFileAtomic(configFile, config, 0o600);
}
