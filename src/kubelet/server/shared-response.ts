import {coalesce} from '../../base/async/coalesce.js';
import {nextIteration} from '../../base/async/next-iteration.js';
import type {BufferedResponse} from './kubelet-response.js';

/**
 * Returns a function that shares costly responses: concurrent requests wait for the same one, so that no more than one is
 * computed at a time. No response is older than its request. `compute` must not depend on the signal of a request.
 */
export function shareResponse(compute: () => Promise<BufferedResponse>): () => Promise<BufferedResponse> {
  return coalesce(async () => {
    // Without this pause, a response that is computed synchronously would never be shared.
    await nextIteration();
    const {body, ...response} = await compute();
    return {...response, body: typeof body === 'string' ? Buffer.from(body) : body};
  });
}
