import type {Container, HTTPGetAction} from '../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import {httpGet, type HttpResponse} from '../http/http-get.js';
import {createHttpGetRequest, PROBE_CLIENT, type HttpRequest} from '../http/http-request.js';
import {failure, success, type ProbeHandlerResult} from './probe-handler-result.js';

/** Go's message for a deadline that passes after the response headers. */
const NO_BODY = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

/** Target of a probe that does not specify a host. */
export interface ProbeTarget {
  readonly container: Container;
  readonly podIp: string;
}

/** Sends a GET; status 200 to 399 is a success, from 300 on with a warning (probe/http). */
export async function probeHttp(
  action: HTTPGetAction,
  {container, podIp}: ProbeTarget,
  timeUp: AbortSignal,
): Promise<ProbeHandlerResult> {
  let request: HttpRequest;
  try {
    request = createHttpGetRequest(action, container, podIp, PROBE_CLIENT);
  } catch (error) {
    rethrowUnexpected(error);
    return {result: 'error', state: 'unknown', output: messageOf(error)};
  }
  try {
    return toResult(await httpGet(request, {signal: timeUp, wantsBody: true}), timeUp.aborted);
  } catch (error) {
    rethrowUnexpected(error);
    return failure(messageOf(error));
  }
}

function toResult({statusCode, body, bodyError}: HttpResponse, isTimeUp: boolean): ProbeHandlerResult {
  if (bodyError !== undefined)
    return {result: 'error', state: 'failure', output: isTimeUp ? NO_BODY : 'unexpected EOF'};
  if (statusCode < 200 || statusCode >= 400)
    return failure(`HTTP probe failed with statuscode: ${statusCode}`);
  if (statusCode < 300) return success(body);
  return {result: 'warning', output: `Probe terminated redirects, Response body: ${body}`};
}
