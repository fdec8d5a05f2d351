import type {UiError} from '../../features/ui/protocol.js';

/** Request that was answered with an error, or not at all. */
export class RequestError extends Error {
  readonly hint: string | undefined;
  /** Status of HTTP; 0 without an answer. */
  readonly status: number;

  constructor(message: string, status: number, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Returns a response that succeeded. Rejects with RequestError. */
export async function checkResponse(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  const {error, hint} = parseError(text) ?? {error: text === '' ? response.statusText : text};
  throw new RequestError(error, response.status, hint);
}

/** Reads the JSON of a response. Rejects with RequestError. */
export async function readAnswer<Answer>(response: Response): Promise<Answer> {
  return (await (await checkResponse(response)).json()) as Answer;
}

function parseError(text: string): UiError | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'error' in value ? (value as UiError) : undefined;
  } catch {
    return undefined;
  }
}
