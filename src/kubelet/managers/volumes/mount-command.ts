import {SystemError} from '../../../base/errors.js';
import {runInGroup} from '../../../base/host/run-in-group.js';

/** Time after which mount(8) is ended, in ms: mount.nfs(8) tries for two minutes, and a journal may be long. */
const MOUNT_TIMEOUT_MS = 600_000;

/** Options of {@link runMountCommand}. */
export interface MountCommandOptions {
  /** Returns a hint for an output. */
  readonly toHint: (output: string) => string | undefined;
  /** Ends mount(8) and its helpers, such as mount.nfs(8) that waits for a server. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs mount(8) and rejects with the message of a kubelet, which contains the command and its output (mount-utils), and with the
 * signal's reason.
 */
export async function runMountCommand(
  args: readonly string[],
  {toHint, signal}: MountCommandOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const env = {...process.env, LC_ALL: 'C'};
  const {reason, output, cause} = await runInGroup('mount', args, {env, timeoutMs: MOUNT_TIMEOUT_MS, signal});
  signal?.throwIfAborted();
  if (reason === undefined) return;
  const lines = [
    `mount failed: ${reason}`,
    'Mounting command: mount',
    `Mounting arguments: ${args.join(' ')}`,
  ];
  throw new SystemError([...lines, `Output: ${output}`, ''].join('\n'), {cause, hint: toHint(output)});
}
