/** Object and causes of an error of the API server (metav1.StatusDetails). */
export interface ApiErrorDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly {readonly reason?: string; readonly message?: string; readonly field?: string}[];
  readonly retryAfterSeconds?: number;
}

/** Fields of an ApiError besides its message. */
export interface ApiErrorFields {
  /** HTTP status, such as 409. */
  readonly code: number;
  /** Reason for programs, such as `AlreadyExists`; empty if the server gave none. */
  readonly reason?: string | undefined;
  readonly details?: ApiErrorDetails | undefined;
  /** Seconds after which the client may try again. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A request that the API server refused (metav1.Status). */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: ApiErrorDetails;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, {code, reason = '', details = {}, retryAfterSeconds}: ApiErrorFields) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds ?? details.retryAfterSeconds;
  }
}

/** Reports whether the object does not exist. */
export const isNotFound = (error: unknown): boolean => hasCode(error, 404);

/** Reports whether the request is not allowed. */
export const isForbidden = (error: unknown): boolean => hasCode(error, 403);

/** Reports whether a resource version is too old to be resumed from. */
export const isGone = (error: unknown): boolean => hasCode(error, 410);

/** Reports whether the server does not have a resource version yet, such as after its data was restored from a backup. */
export const isVersionTooLarge = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.details.causes ?? []).some(
    ({reason, message}) => reason === 'ResourceVersionTooLarge' || message === 'Too large resource version',
  );

/** Reports whether the server receives too many requests. */
export const isTooManyRequests = (error: unknown): boolean => hasCode(error, 429);

/** Reports whether an object of that name exists already. */
export const isAlreadyExists = (error: unknown): boolean =>
  hasCode(error, 409) && (error as ApiError).reason === 'AlreadyExists';

/** Reports whether nothing can be created in the namespace anymore. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.details.causes ?? []).some(({reason}) => reason === 'NamespaceTerminating');

/** Reports whether another client has changed the object, or it is not the expected one. */
export const isConflict = (error: unknown): boolean =>
  hasCode(error, 409) && (error as ApiError).reason !== 'AlreadyExists';

function hasCode(error: unknown, code: number): boolean {
  return error instanceof ApiError && error.code === code;
}

/** Status document of the API server. */
interface Status {
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
}

/** Longest text of a response that is not a Status document, in characters. */
const MAX_TEXT = 200;

/** Creates the error of a response with an error code; its body is a Status document or any text. */
export function createApiError(code: number, body: string, retryAfter?: string): ApiError {
  const seconds = Number(retryAfter);
  const retryAfterSeconds = retryAfter !== undefined && Number.isFinite(seconds) ? seconds : undefined;
  const status = parseStatus(body);
  if (status === undefined) {
    const text = body.trim().slice(0, MAX_TEXT);
    return new ApiError(text === '' ? `the server answered with status ${code}` : text, {
      code,
      retryAfterSeconds,
    });
  }
  return fromStatus(status, code, retryAfterSeconds);
}

/** Creates the error of a Status document, such as that of a watch event of type ERROR. */
export function fromStatus(status: object, code: number, retryAfterSeconds?: number): ApiError {
  const {message, reason, code: own, details}: Status = status;
  return new ApiError(typeof message === 'string' ? message : `the server answered with status ${code}`, {
    code: typeof own === 'number' ? own : code,
    reason: typeof reason === 'string' ? reason : undefined,
    details: typeof details === 'object' && details !== null ? details : undefined,
    retryAfterSeconds,
  });
}

function parseStatus(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isStatus =
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
    return isStatus ? value : undefined;
  } catch {
    return undefined; // not JSON: a proxy's page
  }
}
