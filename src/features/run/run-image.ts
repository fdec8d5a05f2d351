import {randomUUID} from 'node:crypto';
import {stat} from 'node:fs/promises';
import {cwd} from 'node:process';
import {checkDnsLabel, checkDnsSubdomain} from '../../api/validation/validate-names.js';
import {ConfigError, UsageError} from '../../base/errors.js';
import {ifPresent, withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import {podUid} from '../../cri/index.js';
import {readFileOrPipeText} from '../../operations/manifests/read-text.js';
import {generateRunName} from '../../operations/run/image-run-configs.js';
import {parseEnvironment} from '../../operations/run/parse-environment.js';
import {parsePairs} from '../../operations/run/parse-pairs.js';
import {parsePublishedPort} from '../../operations/run/parse-published-port.js';
import {parseUser} from '../../operations/run/parse-user.js';
import {parseVolume} from '../../operations/run/parse-volume.js';
import type {
  DialectContext,
  EnvironmentContext,
  OutputContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {ImageRunFlags} from './run-flags.js';
import {ensureImage, parsePullPolicy, type PullPolicy} from '../pull/ensure-image.js';
import type {PullFlags} from '../pull/pull-options.js';
import {KCRI_SESSION} from '../sessions/command-session.js';
import {ConflictError} from '../../cli/parsing/usage-errors.js';
import {withCidFile} from './cid-file.js';
import {checkHostPorts} from './check-host-ports.js';
import {checkRunningPods} from './check-running-pods.js';
import {parseIsolation} from './parse-isolation.js';
import {runInPod, type PreparedRun} from './run-in-pod.js';

/** Flags of `run` with an image, and those that both forms have. */
export type RunImageFlags = ImageRunFlags &
  PullFlags & {readonly runtime: string; readonly 'cancel-timeout'?: number | undefined};

/** Image and command to run. */
export interface ImageCommand {
  readonly image: string;
  readonly words: readonly string[];
}

/**
 * Runs the container of an image in a pod of its own, as `docker run` does: connected to this process until it exits,
 * or in the background. Removes everything if it cannot be started. Rejects with KcriError.
 */
export async function runImage(
  services: RuntimeContext & DialectContext & OutputContext,
  command: ImageCommand,
  flags: RunImageFlags,
): Promise<void> {
  const {connections} = services;
  checkFlags(flags);
  const policy = await choosePolicy(services, flags);
  const streams = flags.detach
    ? {stdin: flags.interactive, tty: flags.tty}
    : KCRI_SESSION.availableStreams(services, {stdin: flags.interactive, tty: flags.tty});
  const parsed = await parseRun(services, command, flags);
  await withCidFile(flags.cidfile, async (onStarted) => {
    const connection = await connections.default(flags['cancel-timeout']);
    const sandboxes = await checkRunningPods(services, connection, flags.name);
    await checkHostPorts(connection, sandboxes, parsed.ports, services.signal);
    await ensureImage(services, connection, {image: command.image, policy}, flags);
    await runInPod(services, connection, {
      run: {...parsed, stdin: streams.stdin && (flags.detach || 'once'), tty: streams.tty},
      runtimeHandler: flags.runtime,
      detach: flags.detach,
      removes: flags.rm,
      onStarted,
      flags,
    });
  });
}

/** Throws UsageError for flags that exclude each other or are invalid. */
function checkFlags(flags: ImageRunFlags): void {
  const {detach, rm, name, hostname, network, restart = 'no'} = flags;
  if (restart !== 'no')
    throw new UsageError(`--restart "${restart}" is not supported: kcri does not restart the container`, {
      hint: 'run a Pod with "kcri kubelet", which restarts its containers',
    });
  if (detach && rm)
    throw new ConflictError('--detach and --rm are mutually exclusive', {
      hint: 'nothing waits for a detached container; remove it with "kcri delete NAME"',
    });
  const invalid = (flag: string, value: string, [problem]: readonly string[]): void => {
    if (problem !== undefined) throw new UsageError(`invalid --${flag} "${value}": ${problem}`);
  };
  if (name !== undefined) invalid('name', name, checkDnsSubdomain(name));
  if (hostname !== undefined) invalid('hostname', hostname, checkDnsLabel(hostname));
  if (network === 'host') checkHostNetwork(flags);
  else if (network === 'none')
    throw new UsageError('invalid --network "none": CRI has no pods without a network', {
      hint: "the pod has the network of the runtime's CNI configuration",
    });
  else if (network !== undefined && network !== 'pod' && network !== 'bridge')
    throw new UsageError(`invalid --network "${network}": must be pod or host`);
}

function checkHostNetwork({hostname, publish = []}: ImageRunFlags): void {
  if (publish.length > 0)
    throw new ConflictError('--publish and --network=host are mutually exclusive', {
      hint: 'with --network=host, every port of the container is a port of the host',
    });
  if (hostname !== undefined) throw new ConflictError('--hostname and --network=host are mutually exclusive');
}

async function choosePolicy({settings}: SettingsContext, {pull}: ImageRunFlags): Promise<PullPolicy> {
  if (pull !== undefined) return parsePullPolicy(pull);
  return (await settings.read()).disablePullOnRun ? 'never' : 'missing';
}

type ParsedRun = Omit<PreparedRun, 'stdin' | 'tty'>;

/** Returns what the command line says. Rejects with UsageError and ConfigError. */
async function parseRun(
  services: EnvironmentContext & SignalContext,
  {image, words}: ImageCommand,
  flags: RunImageFlags,
): Promise<ParsedRun> {
  const {env} = services.context;
  const uid = podUid(randomUUID());
  const isolation = parseIsolation(flags, cwd());
  const mounts = [...(flags.volume ?? []).map((text) => parseVolume(text, cwd())), ...isolation.mounts];
  for (const {hostPath} of mounts) await checkHostPath('path to mount', hostPath);
  for (const {hostPath} of isolation.devices ?? []) await checkHostPath('device', hostPath);
  const files = [];
  for (const file of flags['env-file'] ?? []) files.push({file, text: await readEnvFile(services, file)});
  return {
    ...isolation,
    name: flags.name ?? generateRunName(image, uid),
    uid,
    image,
    words,
    entrypoint: flags.entrypoint,
    environment: parseEnvironment(files, flags.env ?? [], env),
    workdir: flags.workdir,
    user: flags.user === undefined ? {} : parseUser(flags.user),
    mounts,
    ports: (flags.publish ?? []).map(parsePublishedPort),
    hostNetwork: flags.network === 'host',
    hostname: flags.hostname,
    labels: parsePairs('label', flags.label),
    privileged: flags.privileged,
    readonlyRootfs: flags['read-only'],
  };
}

async function readEnvFile({signal}: SignalContext, file: string): Promise<string> {
  return await withUserFileHints(async () =>
    withFileErrors('reading', file, () => readFileOrPipeText(file, signal)),
  );
}

/** Rejects with ConfigError if the path does not exist. Runtimes would create a directory, even for a misspelled file. */
async function checkHostPath(what: 'path to mount' | 'device', hostPath = ''): Promise<void> {
  const found = await withUserFileHints(async () =>
    withFileErrors('checking', hostPath, () => ifPresent(() => stat(hostPath))),
  );
  if (found !== undefined) return;
  throw new ConfigError(`the ${what} "${hostPath}" does not exist`, {
    hint: what === 'device' ? 'see /dev for those of the node' : `create it first: mkdir -p ${hostPath}`,
  });
}
