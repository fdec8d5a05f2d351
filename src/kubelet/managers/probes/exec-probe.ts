import type {Container, ExecAction} from '../../../api/types/v1-pod.js';
import {rethrowUnexpected} from '../../../base/errors.js';
import type {ContainerId} from '../../../cri/index.js';
import {expandVariables} from '../../../api/expansion.js';
import {execErrorMessage, isExecTimeout} from '../../../format/exec-error.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {failure, success, type ProbeHandlerResult} from './probe-handler-result.js';

/** Maximum size of the output of a command, in bytes. */
const MAX_OUTPUT_BYTES = 10 * 1024;

/** Part of the runtime service that runs commands. */
export type CommandRunner = Pick<KubeRuntimeService, 'execSync'>;

/** Command to run in a container instance. */
export interface ExecProbe {
  readonly exec: ExecAction;
  readonly container: Container;
  readonly id: ContainerId;
  readonly timeoutSeconds: number;
}

/** Runs a command in the container: exit code 0 is a success (probe/exec). */
export async function probeExec(
  runtime: CommandRunner,
  {exec, container, id, timeoutSeconds}: ExecProbe,
  signal: AbortSignal,
): Promise<ProbeHandlerResult> {
  const cmd = commandOf(exec, container);
  try {
    const request = {containerId: id, cmd, timeout: BigInt(timeoutSeconds)};
    const {exitCode, stdout, stderr} = await runtime.execSync(request, {signal});
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString();
    return exitCode === 0 ? success(output) : failure(output);
  } catch (error) {
    rethrowUnexpected(error);
    const output = execErrorMessage(error, cmd, timeoutSeconds);
    return isExecTimeout(error) ? failure(output) : {result: 'error', state: 'unknown', output};
  }
}

/** Expands the variables that have a literal value in the manifest (ExpandContainerCommandOnlyStatic). */
function commandOf({command = []}: ExecAction, {env = []}: Container): readonly string[] {
  const variables = new Map(env.map(({name, value = ''}) => [name, value]));
  return command.map((word) => expandVariables(word, variables));
}
