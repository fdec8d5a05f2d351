import type {ExecAction, HTTPGetAction} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {sleepLong} from '../../base/time-limit.js';
import {goQuote} from '../../format/go-quote.js';
import type {EventSink} from '../container/events.js';
import type {LifecycleHook, RunHook} from '../container/lifecycle-hook.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import type {KubeRuntimeService} from '../container/services.js';
import {httpGet, HttpGetError} from '../http/http-get.js';
import {
  HOOK_HEADERS,
  hostPort,
  httpRequestOf,
  withoutHeader,
  type HttpRequest,
} from '../http/http-request.js';

/** With what hooks are run. */
export interface HookContext {
  readonly runtime: Pick<KubeRuntimeService, 'execSync'>;
  readonly clock: Clock;
  readonly events: EventSink;
}

/** Runs the hooks of pods (lifecycle/handlers.go handlerRunner). */
export function hookRunner(context: HookContext): RunHook {
  return async (hook, signal) => {
    const {exec, httpGet: get, sleep} = hook.handler;
    if (exec !== undefined) return await runExec(context, hook, exec, signal);
    if (get !== undefined) return await runHttp(context, hook, get, signal);
    if (sleep !== undefined) {
      await sleepLong(context.clock, sleep.seconds * 1000, signal);
      return undefined;
    }
    // A tcpSocket is valid in a manifest, and no kubelet runs it.
    return `Cannot run handler: invalid handler: ${Object.keys(hook.handler).join(' ')}`;
  };
}

/** A command in the container; it succeeds with exit code 0. */
export async function runExec(
  {runtime}: Pick<HookContext, 'runtime'>,
  hook: LifecycleHook,
  {command = []}: ExecAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const {containerId} = hook;
  const words = command.join(' ');
  const failed = (problem: string, output = ''): string =>
    `Exec lifecycle hook ([${words}]) for ${subject(hook)} failed - error: ${problem}, message: ${goQuote(output)}`;
  try {
    const answer = await runtime.execSync({containerId, cmd: command, timeout: 0n}, {signal});
    const {exitCode} = answer;
    if (exitCode === 0) return undefined;
    const [stdout, stderr] = [answer.stdout.toString(), answer.stderr.toString()];
    return failed(`command '${words}' exited with ${exitCode}: ${stderr}`, `${stdout}${stderr}`);
  } catch (error) {
    signal.throwIfAborted();
    return failed(messageOf(error));
  }
}

/** A request to the container; any answer is a success. */
async function runHttp(
  {events}: HookContext,
  hook: LifecycleHook,
  action: HTTPGetAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = (problem: string): string =>
    `HTTP lifecycle hook (${action.path ?? ''}) for ${subject(hook)} failed - error: ${problem}`;
  const {pod, container, sandboxIps} = hook;
  const [podIp = ''] = sandboxIps;
  if (podIp === '' && (action.host ?? '') === '')
    return failed('failed to find networking container: the pod has no address of its own');
  try {
    const request = httpRequestOf(action, container, podIp, HOOK_HEADERS);
    if ((await getInEither(request, signal)) === 'http instead') {
      const message = `request to HTTPS lifecycle hook ${hostPort(request)} got HTTP response, retry with HTTP succeeded`;
      events({type: 'Warning', reason: 'LifecycleHTTPFallback', message, pod});
    }
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return failed(messageOf(error));
  }
}

/** A server that doesn't speak TLS is asked again in plain HTTP, without the secret among the headers. */
async function getInEither(request: HttpRequest, signal: AbortSignal): Promise<'as asked' | 'http instead'> {
  try {
    await httpGet(request, {signal, wantsBody: false});
    return 'as asked';
  } catch (error) {
    if (!(error instanceof HttpGetError && error.answeredInHttp)) throw error;
    const headers = withoutHeader(request.headers, 'authorization');
    // When that fails too it is the first failure that tells what is wrong.
    await httpGet({...request, scheme: 'http', headers}, {signal, wantsBody: false}).catch(() => {
      throw error;
    });
    return 'http instead';
  }
}

function subject({pod, container}: LifecycleHook): string {
  return `Container ${goQuote(container.name)} in Pod ${goQuote(formatPod(podRef(pod)))}`;
}
