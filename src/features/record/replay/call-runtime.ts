import {CriError, fromJson, toJson, type Connection} from '../../../cri/index.js';
import type {JsonObject} from '../../../format/json.js';
import type {Answer} from '../../../recording/replay/compare-answers.js';
import type {RecordedCall} from '../../../recording/replay/recorded-calls.js';

/** Options of a call. */
export interface RuntimeCallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Method = (request: unknown, options: RuntimeCallOptions) => Promise<unknown>;

/**
 * Calls a method of the CRI with a request in proto JSON. A status of the runtime is an answer. Rejects with ConfigError if
 * the request has values of wrong types, with CriError if nothing answers at the endpoint, with the signal's reason if it
 * aborts.
 */
export async function callRuntime(
  {runtime, images}: Pick<Connection, 'runtime' | 'images'>,
  {rpc, request: requestName, response: responseName}: RecordedCall['method'],
  request: JsonObject,
  options: RuntimeCallOptions,
): Promise<Answer> {
  const name = rpc.charAt(0).toLowerCase() + rpc.slice(1);
  const method = ({...runtime, ...images} as unknown as Readonly<Record<string, Method>>)[name];
  const message = fromJson(requestName, request);
  try {
    const response = await method?.(message, options);
    const json = toJson(responseName, response as object) as JsonObject;
    return {code: 'OK', error: '', response: json};
  } catch (error) {
    if (!(error instanceof CriError) || error.neverConnected) throw error;
    return {code: error.grpcCode, error: error.details, response: undefined};
  }
}
