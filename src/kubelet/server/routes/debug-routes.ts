import {goQuote} from '../../../format/go-quote.js';
import type {ServerOptions} from '../http-server-options.js';
import {errorResponse, textResponse, type KubeletRequest, type KubeletResponse} from '../kubelet-response.js';
import type {Route} from '../router.js';

/** Longest body that is read, in characters. */
const LONGEST_VALUE = 1024;

/** Returns the routes below /debug/ (InstallDebugFlagsHandler, InstallProfilingHandler): the verbosity of the log, and pprof. */
export function debugRootRoutes({
  setVerbosity,
  profilingHandler,
  ...kubelet
}: Pick<ServerOptions, 'setVerbosity' | 'profilingHandler' | 'clock' | 'program'>): readonly Route[] {
  const disabled = (message: string) => async (): Promise<KubeletResponse> =>
    await Promise.resolve(errorResponse(405, message));
  return [
    {
      pattern: '/debug/flags/v',
      registeredAs: 'exact',
      handle:
        setVerbosity === undefined
          ? disabled('flags endpoint is disabled.')
          : async (request) => await putVerbosity(request, setVerbosity),
    },
    {
      pattern: '/debug/pprof/*',
      registeredAs: '/debug/pprof/',
      ...(profilingHandler
        ? {
            methods: ['GET'],
            handle: async (request) => {
              // Loaded by the first request: most kubelets are never profiled.
              const {respondProfile} = await import('../profiling/profile-handlers.js');
              return await respondProfile(request.params['*'] ?? '', request, kubelet);
            },
          }
        : {handle: disabled('profiling endpoint is disabled.')}),
    },
  ];
}

/** Sets the verbosity to the number that is the body of a request (routes.StringFlagPutHandler, logs.GlogSetter). */
async function putVerbosity(
  {method, raw}: KubeletRequest,
  setVerbosity: (level: number) => void,
): Promise<KubeletResponse> {
  if (method !== 'PUT') return errorResponse(406, 'unsupported http method');
  const value = await readValue(raw);
  const problem = verbosityProblem(value);
  if (problem !== undefined) return errorResponse(400, problem);
  setVerbosity(Number(value));
  return textResponse(`successfully set klog.logging.verbosity to ${value}\n`);
}

/** Reads a body, which is cut off where no number can be so long. */
async function readValue(body: AsyncIterable<Buffer>): Promise<string> {
  let value = '';
  for await (const chunk of body) {
    value += chunk.toString();
    if (value.length > LONGEST_VALUE) break;
  }
  return value.slice(0, LONGEST_VALUE);
}

/** Returns the error of Go's strconv for a text that is not a verbosity, an integer of 31 bits. */
function verbosityProblem(value: string): string | undefined {
  const problem = (parser: string, reason: string): string =>
    `strconv.${parser}: parsing ${goQuote(value)}: ${reason}`;
  if (!/^\d+$/.test(value)) return problem('ParseUint', 'invalid syntax');
  if (Number(value) >= 2 ** 32) return problem('ParseUint', 'value out of range');
  if (Number(value) < 2 ** 31) return undefined;
  return `failed set klog.logging.verbosity ${value}: ${problem('ParseInt', 'value out of range')}`;
}
