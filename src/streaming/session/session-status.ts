import type {RemoteResult} from './session.js';

interface Cause {
  readonly reason?: unknown;
  readonly message?: unknown;
}

/** Status document of the server; its members may have any type. */
interface Status {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: {readonly causes?: unknown};
}

/**
 * Parses the Kubernetes `Status` document on a session's error channel. Any other text is the failure message, as in
 * protocols before v4.
 */
export function parseSessionStatus(text: string): RemoteResult {
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
  const cause = causes.find((each) => each?.reason === 'ExitCode');
  return typeof cause?.message === 'string' && /^\d{1,3}$/.test(cause.message)
    ? Number(cause.message)
    : undefined;
}
