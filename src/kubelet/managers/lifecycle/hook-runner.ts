import type {ExecAction, HTTPGetAction} from '../../../api/types/v1-pod.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import {sleepLong} from '../../../base/async/deadline.js';
import {joinHostPort} from '../../../base/net/join-host-port.js';
import {execErrorMessage} from '../../../format/exec-error.js';
import {goQuote} from '../../../format/go-quote.js';
import type {EventSink} from '../../contract/pod-event.js';
import type {LifecycleHook, RunHook} from '../../contract/lifecycle-hook.js';
import {formatPod, podRef} from '../../contract/pod-ref.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {httpGet, HttpGetError} from '../http/http-get.js';
import {HOOK_CLIENT, createHttpGetRequest, withoutHeader, type HttpRequest} from '../http/http-request.js';

/** Dependencies of hook runners. */
export interface HookContext {
  readonly runtime: Pick<KubeRuntimeService, 'execSync'>;
  readonly clock: Clock;
  readonly events: EventSink;
}

/**
 * Creates the function that runs lifecycle hooks; it returns the message of a failure (lifecycle/handlers.go
 * handlerRunner).
 */
export function createHookRunner(context: HookContext): RunHook {
  return async (hook, signal) => {
    const {exec, httpGet: get, sleep} = hook.handler;
    if (exec !== undefined) return await runExecHook(context, hook, exec, signal);
    if (get !== undefined) return await runHttpHook(context, hook, get, signal);
    if (sleep !== undefined) {
      await sleepLong(context.clock, sleep.seconds * 1000, signal);
      return undefined;
    }
    // A tcpSocket handler is valid in a manifest, but the kubelet does not support it.
    return `Cannot run handler: invalid handler: ${Object.keys(hook.handler).join(' ')}`;
  };
}

/** Runs a command in the container, which succeeds with exit code 0. Returns the message of a failure. */
export async function runExecHook(
  {runtime}: Pick<HookContext, 'runtime'>,
  hook: LifecycleHook,
  {command = []}: ExecAction,
  signal: AbortSignal,
): Promise<string | undefined> {
  const {containerId} = hook;
  const commandLine = command.join(' ');
  const failed = (problem: string, output = ''): string =>
    `Exec lifecycle hook ([${commandLine}]) for ${subject(hook)} failed - error: ${problem}, message: ${goQuote(output)}`;
  try {
    const response = await runtime.execSync({containerId, cmd: command, timeout: 0n}, {signal});
    const {exitCode} = response;
    if (exitCode === 0) return undefined;
    const [stdout, stderr] = [response.stdout.toString(), response.stderr.toString()];
    return failed(`command '${commandLine}' exited with ${exitCode}: ${stderr}`, `${stdout}${stderr}`);
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    return failed(execErrorMessage(error, command, 0));
  }
}

/** Sends a request to the container; any response is a success. Returns the message of a failure. */
async function runHttpHook(
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
    return failed('failed to find networking container: the pod has no IP address');
  try {
    const request = createHttpGetRequest(action, container, podIp, HOOK_CLIENT);
    if ((await getWithHttpFallback(request, signal)) === 'http fallback') {
      const message = `request to HTTPS lifecycle hook ${joinHostPort(request)} got HTTP response, retry with HTTP succeeded`;
      events({type: 'Warning', reason: 'LifecycleHTTPFallback', message, pod});
    }
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    return failed(messageOf(error));
  }
}

/** Sends a GET; if an HTTPS request gets an HTTP response, retries with HTTP and without the Authorization header. */
async function getWithHttpFallback(
  request: HttpRequest,
  signal: AbortSignal,
): Promise<'as requested' | 'http fallback'> {
  try {
    await httpGet(request, {signal, wantsBody: false});
    return 'as requested';
  } catch (error) {
    if (!(error instanceof HttpGetError && error.isHttpResponseError)) throw error;
    const headers = withoutHeader(request.headers, 'authorization');
    // If the retry fails too, report the first error.
    await httpGet({...request, scheme: 'http', headers}, {signal, wantsBody: false}).catch(
      (retried: unknown) => {
        rethrowUnexpected(retried);
        throw error;
      },
    );
    return 'http fallback';
  }
}

function subject({pod, container}: LifecycleHook): string {
  return `Container ${goQuote(container.name)} in Pod ${goQuote(formatPod(podRef(pod)))}`;
}
