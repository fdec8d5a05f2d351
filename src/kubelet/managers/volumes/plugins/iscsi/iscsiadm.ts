import {SystemError} from '../../../../../base/errors.js';
import {describeExit, type RunTool, type ToolResult} from '../../devices/disk-tools.js';

/** Time limit of a call, in ms: iscsiadm(8) tries to log in for two minutes. */
const TIMEOUT_MS = 180_000;
/** Longest part of an output in a message, in characters. */
const MOST_OUTPUT = 1000;

/** Exit codes of iscsiadm(8) (iscsi_err.h). */
export const ISCSI_EXIT = {noSession: 2, sessionExists: 15, nothingFound: 21} as const;

/** A failure of iscsiadm(8). */
export class IscsiadmError extends SystemError {
  readonly status: ToolResult['exitCode'];

  constructor(message: string, result: Pick<ToolResult, 'exitCode'>) {
    super(message, {hint: hintFor(result.exitCode)});
    this.status = result.exitCode;
  }
}

/** How iscsiadm(8) is called. */
export interface IscsiadmOptions {
  readonly runTool: RunTool;
  /** Ends a call that changes nothing. */
  readonly signal?: AbortSignal;
  /** The value of the last argument, which no message may contain. */
  readonly secret?: string;
}

/** Calls iscsiadm(8), and returns its output. Rejects with IscsiadmError, and with the signal's reason. */
export async function iscsiadm(args: readonly string[], options: IscsiadmOptions): Promise<string> {
  const {runTool, signal, secret} = options;
  const all = secret === undefined ? args : [...args, secret];
  const result = await runTool('iscsiadm', all, {
    timeoutMs: TIMEOUT_MS,
    ...(signal !== undefined && {signal}),
    ...(secret !== undefined && {shownArgs: [...args, '********']}),
  });
  if (result.exitCode === 0) return result.output;
  if (result.exitCode === undefined)
    throw new IscsiadmError('exec: "iscsiadm": executable file not found in $PATH', result);
  const said = withoutSecret(result.output, secret).trim().slice(0, MOST_OUTPUT);
  throw new IscsiadmError(`${describeExit(result)}${said === '' ? '' : `, output: ${said}`}`, result);
}

/** Returns an output in which the secret is masked. */
function withoutSecret(output: string, secret = ''): string {
  return secret === '' ? output : output.replaceAll(secret, '********');
}

const NOT_REACHED = 'check that the portal can be reached from the node';
const HINTS: Readonly<Record<number, string>> = {
  4: NOT_REACHED,
  8: NOT_REACHED,
  // A discovery at a portal that refuses connections ends so, too.
  11: NOT_REACHED,
  12: 'load the kernel module iscsi_tcp, and check the name of the interface with: iscsiadm -m iface',
  18: 'start the daemon iscsid',
  20: 'start the daemon iscsid',
  24: 'check the Secret of the volume, and the initiator names that the target allows',
};

function hintFor(exitCode: ToolResult['exitCode']): string {
  if (exitCode === undefined) return 'install open-iscsi (Debian) or iscsi-initiator-utils (RHEL)';
  return HINTS[exitCode ?? 0] ?? 'look with "journalctl -u iscsid" for the cause';
}

/**
 * Calls iscsiadm(8), unless it answers that there is nothing to do; a missing program has nothing to do if no session of the target
 * exists. Rejects like iscsiadm.
 */
export async function unlessMissing(call: Promise<string>, {hasSession = true} = {}): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof IscsiadmError)) throw error;
    const {status} = error;
    const hasNothing = status === ISCSI_EXIT.noSession || status === ISCSI_EXIT.nothingFound;
    if (!hasNothing && (status !== undefined || hasSession)) throw error;
  }
}
