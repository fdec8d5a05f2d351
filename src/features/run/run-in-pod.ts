import {join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import type {Connection, ContainerId} from '../../cri/index.js';
import {readCgroupDriver} from '../../cri/read-cgroup-driver.js';
import {runContainer, type RunningContainer} from '../../operations/containers/run-container.js';
import {ExecFailedError, startFailure} from '../../operations/exec/exec-errors.js';
import {runContainerConfig, runSandboxConfig, type ImageRun} from '../../operations/run/image-run-configs.js';
import {withContext} from '../../operations/with-context.js';
import type {
  DialectContext,
  OutputContext,
  ReportContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {SessionFlagValues} from '../sessions/session-flags.js';
import {connectMainProcess, type MainProcessEnd} from '../sessions/main-process.js';
import {endRun} from './end-run.js';
import {prepareRunLogs, removeRunLog, runLogName} from './run-logs.js';

/** Container to run, without what depends on the node. */
export type PreparedRun = Omit<ImageRun, 'logDirectory' | 'logName' | 'cgroupDriver'>;

/** Options of runInPod. */
export interface RunInPodOptions {
  readonly run: PreparedRun;
  /** Empty for the runtime's default handler. */
  readonly runtimeHandler: string;
  /** True to print the ID of the container and leave it running. */
  readonly detach: boolean;
  /** True to remove the pod at the end. */
  readonly removes: boolean;
  /** Called when the container runs. */
  readonly onStarted?: (id: ContainerId) => Promise<void>;
  readonly flags: SessionFlagValues;
}

/**
 * Runs a container in a pod of its own, connected to this process until it exits, with its exit code, or in the
 * background. The image must be present. Rejects with KcriError and leaves nothing if it cannot be started.
 */
export async function runInPod(
  services: RuntimeContext & DialectContext & OutputContext,
  connection: Connection,
  {run: prepared, runtimeHandler, detach, removes, onStarted, flags}: RunInPodOptions,
): Promise<void> {
  const {out, report, settings, signal} = services;
  const reading = readCgroupDriver(connection.runtime, signal);
  const run: ImageRun = {
    ...prepared,
    cgroupDriver: await withContext('reading the cgroup driver', reading),
    logDirectory: await prepareRunLogs(settings.rootDir),
    logName: runLogName(prepared),
  };
  const logPath = join(run.logDirectory, run.logName);
  const running = await start(services, connection, run, {logPath, runtimeHandler});
  await onStarted?.(running.containerId);
  if (detach) {
    out.print(running.containerId);
    return;
  }
  const container = {id: running.containerId, name: run.name, logPath};
  const streams = {stdin: run.stdin !== false, tty: run.tty};
  let end: MainProcessEnd | undefined;
  try {
    end = await connectMainProcess(services, connection.runtime, container, {streams, flags});
    report.setExitCode(end.exitCode);
  } finally {
    await endRun(services, connection.runtime, {...running, ...container}, {end, removes});
  }
}

interface StartOptions {
  readonly logPath: string;
  readonly runtimeHandler: string;
}

/** Starts the container; removes everything after a failure. */
async function start(
  services: ReportContext & SignalContext,
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
    await removeRunLog(logPath).catch((failure: unknown) => {
      if (failure instanceof SystemError) report.warn(failure);
      else throw failure;
    });
    throw startError(error, run);
  }
}

/** Texts of containerd and CRI-O for a user whom /etc/passwd of the image lacks. */
const UNKNOWN_USER = /no users found|unable to find user/;

/** Returns the error for a container that could not be started. */
function startError(error: unknown, {user, image}: PreparedRun): unknown {
  if (!(error instanceof Error)) return error;
  const {runAsUsername = ''} = user;
  if (runAsUsername !== '' && UNKNOWN_USER.test(error.message))
    return new SystemError(`the image "${image}" has no user "${runAsUsername}"`, {
      cause: error,
      hint: 'use --user with a UID, or a name in /etc/passwd of the image',
    });
  return startFailure(error.message) === undefined ? error : new ExecFailedError(error.message);
}
