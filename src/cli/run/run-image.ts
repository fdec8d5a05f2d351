import {randomUUID} from 'node:crypto';
import {stat} from 'node:fs/promises';
import {cwd} from 'node:process';
import {join} from 'node:path';
import {checkDnsLabel, checkDnsSubdomain} from '../../api/validation/validate-names.js';
import {ConfigError, SystemError, UsageError} from '../../base/errors.js';
import {ifPresent, withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import {podUid, type Connection, type Init, type Mount} from '../../cri/index.js';
import {readCgroupDriver} from '../../cri/read-cgroup-driver.js';
import {runContainer, type RunningContainer} from '../../operations/containers/run-container.js';
import {ExecFailedError, startFailure} from '../../operations/exec/exec-errors.js';
import {parseLabels} from '../../operations/filters/list-filters.js';
import {readFileOrPipeText} from '../../operations/manifests/read-text.js';
import {
  generateRunName,
  runContainerConfig,
  RUN_NAMESPACE,
  runSandboxConfig,
  type ImageRun,
} from '../../operations/run/image-run-configs.js';
import {parseEnvironment} from '../../operations/run/parse-environment.js';
import {parsePublishedPort} from '../../operations/run/parse-published-port.js';
import {parseUser} from '../../operations/run/parse-user.js';
import {parseVolume} from '../../operations/run/parse-volume.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandServices} from '../command/command-services.js';
import type {ImageRunFlags} from '../flags/run-flags.js';
import {ensureImage, type PullPolicy} from '../pull/ensure-image.js';
import type {PullFlags} from '../pull/pull-options.js';
import {KCRI_SESSION} from '../terminal/command-session.js';
import {connectMainProcess, type MainProcessEnd} from '../terminal/main-process.js';
import {ConflictError} from '../usage-errors.js';
import {checkRunningPods} from './check-running-pods.js';
import {endRun} from './end-run.js';
import {prepareRunLogs} from './run-logs.js';

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
  services: CommandServices,
  command: ImageCommand,
  flags: RunImageFlags,
): Promise<void> {
  const {connections, out, report, settings} = services;
  checkFlags(flags);
  const policy = await choosePolicy(services, flags);
  const streams = flags.detach
    ? {stdin: flags.interactive, tty: flags.tty}
    : KCRI_SESSION.availableStreams(services, {stdin: flags.interactive, tty: flags.tty});
  const parsed = await parseRun(services, command, flags);
  const connection = await connections.default(flags['cancel-timeout']);
  await checkRunningPods(services, connection, flags.name);
  await ensureImage(services, connection, {image: command.image, policy}, flags);
  const logDirectory = await prepareRunLogs(settings.rootDir);
  const run: ImageRun = {
    ...parsed,
    stdin: streams.stdin && (flags.detach || 'once'),
    tty: streams.tty,
    logDirectory,
    logName: `${RUN_NAMESPACE}_${parsed.name}_${parsed.uid}.log`,
    cgroupDriver: await withContext(
      'reading the cgroup driver',
      readCgroupDriver(connection.runtime, services.signal),
    ),
  };
  const logPath = join(logDirectory, run.logName);
  const running = await start(services, connection, run, {logPath, runtimeHandler: flags.runtime});
  if (flags.detach) {
    out.print(running.containerId);
    return;
  }
  const container = {id: running.containerId, name: run.name, logPath};
  let end: MainProcessEnd | undefined;
  try {
    end = await connectMainProcess(services, connection.runtime, container, {streams, flags});
    report.setExitCode(end.exitCode);
  } finally {
    await endRun(services, connection.runtime, {...running, ...container}, {end, removes: flags.rm});
  }
}

function checkFlags(flags: ImageRunFlags): void {
  const {detach, rm, name, hostname, network, publish = []} = flags;
  if (detach && rm)
    throw new ConflictError('--detach and --rm are mutually exclusive', {
      hint: 'nothing waits for a detached container; remove it with "kcri rmp --force NAME"',
    });
  const invalid = (flag: string, value: string, [problem]: readonly string[]): void => {
    if (problem !== undefined) throw new UsageError(`invalid --${flag} "${value}": ${problem}`);
  };
  if (name !== undefined) invalid('name', name, checkDnsSubdomain(name));
  if (hostname !== undefined) invalid('hostname', hostname, checkDnsLabel(hostname));
  if (network === 'host' && publish.length > 0)
    throw new ConflictError('--publish and --network=host are mutually exclusive', {
      hint: 'with --network=host, every port of the container is a port of the host',
    });
  if (network === 'host' && hostname !== undefined)
    throw new ConflictError('--hostname and --network=host are mutually exclusive');
  oneOf('network', network ?? 'pod', ['pod', 'host']);
}

async function choosePolicy({settings}: CommandServices, {pull}: ImageRunFlags): Promise<PullPolicy> {
  if (pull !== undefined) return oneOf('pull', pull, ['missing', 'always', 'never'] as const);
  return (await settings.read()).disablePullOnRun ? 'never' : 'missing';
}

function oneOf<T extends string>(flag: string, value: string, choices: readonly T[]): T {
  const known = choices.find((choice) => choice === value);
  if (known !== undefined) return known;
  throw new UsageError(`invalid --${flag} "${value}": must be one of ${choices.join(', ')}`);
}

type ParsedRun = Omit<ImageRun, 'stdin' | 'tty' | 'logDirectory' | 'logName' | 'cgroupDriver'>;

/** Returns what the command line says. Rejects with UsageError and ConfigError. */
async function parseRun(
  services: CommandServices,
  {image, words}: ImageCommand,
  flags: RunImageFlags,
): Promise<ParsedRun> {
  const {env} = services.context;
  const uid = podUid(randomUUID());
  const mounts = (flags.volume ?? []).map((text) => parseVolume(text, cwd()));
  for (const mount of mounts) await checkHostPath(mount);
  const files = [];
  for (const file of flags['env-file'] ?? []) files.push({file, text: await readEnvFile(services, file)});
  return {
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
    labels: parseLabels(flags.label),
    privileged: flags.privileged,
    readonlyRootfs: flags['read-only'],
    capAdd: capabilities(flags['cap-add']),
    capDrop: capabilities(flags['cap-drop']),
    memoryBytes: flags.memory,
    cpus: flags.cpus,
  };
}

/** Returns the names of capabilities as the CRI has them: `NET_ADMIN`. */
function capabilities(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.toUpperCase().replace(/^CAP_/, ''));
}

async function readEnvFile({signal}: CommandServices, file: string): Promise<string> {
  return await withUserFileHints(async () =>
    withFileErrors('reading', file, () => readFileOrPipeText(file, signal)),
  );
}

/** Rejects with ConfigError if the path does not exist. Runtimes would create a directory, even for a misspelled file. */
async function checkHostPath({hostPath = ''}: Init<Mount>): Promise<void> {
  const found = await withUserFileHints(async () =>
    withFileErrors('checking', hostPath, () => ifPresent(() => stat(hostPath))),
  );
  if (found === undefined)
    throw new ConfigError(`--volume: "${hostPath}" does not exist`, {
      hint: `create it first: mkdir -p ${hostPath}`,
    });
}

interface StartOptions {
  readonly logPath: string;
  readonly runtimeHandler: string;
}

/** Starts the container; removes everything after a failure. */
async function start(
  services: CommandServices,
  connection: Connection,
  run: ImageRun,
  {logPath, runtimeHandler}: StartOptions,
): Promise<RunningContainer> {
  const {report, signal} = services;
  try {
    return await runContainer(connection, {
      config: runContainerConfig(run),
      sandboxConfig: runSandboxConfig(run),
      pull: undefined,
      beforeCreate: undefined,
      runtimeHandler,
      onLeftover: report.warn,
      signal,
    });
  } catch (error) {
    const {removeRunLog} = await import('./run-logs.js');
    await removeRunLog(logPath).catch((failure: unknown) => {
      if (failure instanceof SystemError) report.warn(failure);
      else throw failure;
    });
    const reason = error instanceof Error ? startFailure(error.message) : undefined;
    throw reason === undefined ? error : new ExecFailedError((error as Error).message);
  }
}
