import {messageOf} from '../../base/errors.js';
import {isNotFound, type RuntimeService} from '../../cri/index.js';
import type {RunningContainer} from '../../operations/containers/run-container.js';
import type {ReportContext} from '../../cli/command/contexts.js';
import {isDetached, type MainProcessEnd} from '../sessions/main-process.js';
import {removeRunLog} from './run-logs.js';

/** Time between the stop signal and SIGKILL after an interruption, in seconds, as in docker. */
export const STOP_SECONDS = 10n;

/** Container whose connection has ended. */
export interface EndedRun extends RunningContainer {
  readonly name: string;
  readonly logPath: string;
}

/** End of the connection, and the wish to remove the pod. */
export interface EndRunOptions {
  /** Undefined after an error or an interruption. */
  readonly end: MainProcessEnd | undefined;
  readonly removes: boolean;
}

/**
 * Stops the pod of a container whose connection has ended, and removes it with its log if wished. A container from
 * which the user detached keeps running. Takes no signal, since it must run after Ctrl-C too; failures are warnings.
 */
export async function endRun(
  {report}: ReportContext,
  runtime: RuntimeService,
  {podSandboxId, containerId, name, logPath}: EndedRun,
  {end, removes}: EndRunOptions,
): Promise<void> {
  if (isDetached(end)) {
    report.info(
      `kcri: "${name}" keeps running; remove it with "kcri delete ${name}"${removes ? ', since --rm has no effect after detaching' : ''}`,
    );
    return;
  }
  try {
    await unlessGone(end?.kind === 'exited' || runtime.stopContainer({containerId, timeout: STOP_SECONDS}));
    await unlessGone(runtime.stopPodSandbox({podSandboxId}));
    if (!removes) return;
    await unlessGone(runtime.removePodSandbox({podSandboxId}));
    await removeRunLog(logPath);
  } catch (error) {
    report.warn(`cannot ${removes ? 'remove' : 'stop'} pod "${name}": ${messageOf(error)}`);
  }
}

/** Ignores that the object was removed by another program. */
async function unlessGone(work: Promise<unknown> | boolean): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
