import type {Container, ExecAction} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {CriError, type ContainerId} from '../../cri/index.js';
import {expand} from '../../api/expansion.js';
import {goQuote} from '../../format/go-quote.js';
import type {KubeRuntimeService} from '../container/services.js';
import {failure, goSeconds, success, type ProbeAnswer} from './probe-answer.js';

/** Nobody is shown more of what a command says. */
const MAX_OUTPUT_BYTES = 10 * 1024;

/** The part of the runtime that runs commands. */
export type CommandRunner = Pick<KubeRuntimeService, 'execSync'>;

/** A command to run in a container instance. */
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
): Promise<ProbeAnswer> {
  const cmd = commandOf(exec, container);
  try {
    const request = {containerId: id, cmd, timeout: BigInt(timeoutSeconds)};
    const {exitCode, stdout, stderr} = await runtime.execSync(request, {signal});
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString();
    return exitCode === 0 ? success(output) : failure(output);
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'DEADLINE_EXCEEDED')
      return failure(`command ${goQuote(cmd.join(' '))} timed out after ${goSeconds(timeoutSeconds)}`);
    return {result: 'error', state: 'unknown', output: messageOf(error)};
  }
}

/** Only variables that the manifest gives a value are known (ExpandContainerCommandOnlyStatic). */
function commandOf({command = []}: ExecAction, {env = []}: Container): readonly string[] {
  const variables = new Map(env.map(({name, value = ''}) => [name, value]));
  return command.map((word) => expand(word, variables));
}
