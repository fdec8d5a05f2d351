import type {RequestSpan, TracedRequest} from '../contract/observation/kubelet-tracer.js';
import {HttpError, type KubeletResponse} from './kubelet-response.js';
import {findRoute, type RequestPath, type Route} from './router.js';

/** Returns how a kubelet has registered the handler of a request: in its router, and in the ServeMux below it. Pure. */
export function describeRoute(
  {disabled, routes}: {readonly disabled: ReadonlyMap<string, string>; readonly routes: readonly Route[]},
  path: RequestPath,
  method: string,
): Pick<TracedRequest, 'route' | 'pattern'> {
  const {
    parts: [root = '', ...below],
    trailing,
  } = path;
  const tree = below.length > 0 || trailing ? `/${root}/` : `/${root}`;
  if (disabled.has(root)) return {route: undefined, pattern: tree};
  try {
    const {pattern, registeredAs} = findRoute(routes, path, method).route;
    return registeredAs === 'exact' ? {route: undefined, pattern} : {route: routeOf(pattern), pattern: tree};
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return {route: undefined, pattern: tree};
  }
}

/** Returns a path pattern as the kubelet's router has it. */
function routeOf(pattern: string): string {
  const rest = pattern.startsWith('/logs/') ? '{logpath:*}' : '{subpath:*}';
  return pattern.replace(/^(\/[^/]+)$/, '$1/').replace(/\*$/, rest);
}

/** A kubelet's span of a session has the status that its handler has not changed. */
const UPGRADED = 200;

/** Runs the handler of a request in a span, which ends with the response. Settles as the handler. */
export async function traceResponse(
  span: RequestSpan,
  handle: () => Promise<KubeletResponse>,
): Promise<KubeletResponse> {
  const untilEnd = async (status: number, work: () => Promise<void>): Promise<void> => {
    try {
      await span.run(work);
    } finally {
      span.end(status);
    }
  };
  try {
    const result = await span.run(handle);
    if (result.kind === 'streamed')
      return {
        ...result,
        write: async (response) => {
          await untilEnd(200, async () => {
            await result.write(response);
          });
        },
      };
    if (result.kind === 'upgraded')
      return {
        ...result,
        serve: async (socket, head) => {
          await untilEnd(UPGRADED, async () => {
            await result.serve(socket, head);
          });
        },
      };
    span.end(result.status);
    return result;
  } catch (error) {
    span.end(error instanceof HttpError ? error.status : 500);
    throw error;
  }
}
