import type {ContainerStateTerminated, ContainerStatus} from '../../api/types/v1-status.js';

/** Waiting reason of a container that is restarted after a back-off. */
const BACK_OFF = 'CrashLoopBackOff';

/** Returns the exit of a container that does not run; of one in back-off the last one, undefined if it never ran. */
export function lastExitOf({
  state = {},
  lastState,
}: Pick<ContainerStatus, 'state' | 'lastState'>): ContainerStateTerminated | undefined {
  return state.terminated ?? (isBackingOff({state}) ? lastState?.terminated : undefined);
}

/** Reports whether the last run of a container failed. */
export function hasFailed(status: ContainerStatus): boolean {
  return (lastExitOf(status)?.exitCode ?? 0) !== 0;
}

/** Reports whether the container waits for a restart after a crash. */
export function isBackingOff({state}: Pick<ContainerStatus, 'state'>): boolean {
  return state?.waiting?.reason === BACK_OFF;
}

/** Describes an exit as `exited with code 137 (OOMKilled)`. */
export function describeExit({
  exitCode,
  reason = '',
}: {
  readonly exitCode: number;
  readonly reason?: string | undefined;
}): string {
  return `exited with code ${exitCode}${reason === '' ? '' : ` (${reason})`}`;
}

/** Describes the exit of a container in back-off, such as `exited with code 3 (Error), restarted once`. */
export function describeCrash(status: ContainerStatus): string | undefined {
  const exit = lastExitOf(status);
  if (exit === undefined || !isBackingOff(status)) return undefined;
  return `${describeExit(exit)}${describeRestarts(status)}`;
}

/** Describes restarts, to follow a state: empty without any, else such as `, restarted 3 times`. */
export function describeRestarts({restartCount}: Pick<ContainerStatus, 'restartCount'>): string {
  if (restartCount === 0) return '';
  return `, restarted ${restartCount === 1 ? 'once' : `${restartCount} times`}`;
}
