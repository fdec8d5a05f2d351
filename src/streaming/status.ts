import type {RemoteResult} from './session.js';

interface Cause {
  readonly reason?: unknown;
  readonly message?: unknown;
}

/** Whatever the server sent, with the members that matter, each of any type. */
interface Status {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: {readonly causes?: unknown};
}

/**
 * What a Kubernetes `Status` document on a session's error channel says. Text that is none is taken as the
 * failure's message, as protocols before v4 have it.
 */
export function remoteResult(text: string): RemoteResult {
  const status = parse(text);
  if (status?.status === 'Success') return {kind: 'exited', exitCode: 0};
  if (status?.status !== 'Failure') return {kind: 'failed', message: text.trim()};
  const exitCode = status.reason === 'NonZeroExitCode' ? exitCodeIn(status) : undefined;
  if (exitCode !== undefined) return {kind: 'exited', exitCode};
  return {kind: 'failed', message: typeof status.message === 'string' ? status.message : text.trim()};
}

function parse(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function exitCodeIn({details}: Status): number | undefined {
  const causes = Array.isArray(details?.causes) ? (details.causes as readonly (Cause | null)[]) : [];
  const cause = causes.find((one) => one?.reason === 'ExitCode');
  return typeof cause?.message === 'string' && /^\d{1,3}$/.test(cause.message)
    ? Number(cause.message)
    : undefined;
}
